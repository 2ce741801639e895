import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECT_ROOT } from './services/project.ts'

type Compile = (root: string, folder: string, files: readonly string[]) => Promise<void>
const PROGRAM = pathToFileURL(join(PROJECT_ROOT, 'infra', 'test-modules.mjs')).href
const { compileModules }: { readonly compileModules: Compile } = await import(/* @vite-ignore */ PROGRAM)

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'millrace-modules-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const source = (name: string, text: string): string => {
  writeFileSync(join(root, name), text)
  return join(root, name)
}
const compile = (files: readonly string[]) => compileModules(root, join(root, 'compiled'), files)
const output = (name: string): string => join(root, 'compiled', name)

test('modules import each other, and keep the address of their source', async () => {
  const files = [
    source('one.ts', 'type One = number\nexport const one: One = 1\n'),
    source('two.ts', "export { one } from './one.ts'\nexport const here: string = import.meta.url\n"),
    source('three.ts', "export const later = async () => (await import('./two.ts')).one\n"),
    source('two.test.ts', 'export {}\n'),
  ]
  await compile(files)
  const two = await import(/* @vite-ignore */ pathToFileURL(output('two.mjs')).href)
  expect(two).toMatchObject({ one: 1, here: pathToFileURL(join(root, 'two.ts')).href })
  const three = await import(/* @vite-ignore */ pathToFileURL(output('three.mjs')).href)
  expect(await three.later()).toBe(1)
  expect(existsSync(output('two.test.mjs'))).toBe(false)
})

test('only what has changed is compiled again, and what has no source any more is removed', async () => {
  const [kept, changed, gone] = [
    source('kept.ts', 'export const a = 1\n'),
    source('changed.ts', 'export const b = 1\n'),
    source('gone.ts', 'export const c = 1\n'),
  ]
  await compile([kept, changed, gone])
  const before = statSync(output('kept.mjs')).ino
  const beforeChange = statSync(output('changed.mjs')).ino
  source('changed.ts', 'export const b = 20\n')
  await compile([kept, changed])
  expect(statSync(output('kept.mjs')).ino).toBe(before)
  expect(statSync(output('changed.mjs')).ino).not.toBe(beforeChange)
  expect(existsSync(output('gone.mjs'))).toBe(false)
})
