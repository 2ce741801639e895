#!/usr/bin/env node
// `npx millrace …`: the command line of an installation. What is missing is built first.
import { prepare } from './bootstrap.mjs'

// What the command prints is its answer, so what the build says goes elsewhere.
const print = console.log
// Files that the command names are in the folder of the caller.
const folder = process.cwd()
console.log = console.error
await prepare()
console.log = print
process.chdir(folder)
await import('../dist/infra/cli/main.js')
