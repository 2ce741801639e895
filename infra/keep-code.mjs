// `node infra/keep-code.mjs <bundle> <place>`, which the build runs for each process: keeps the code that V8 makes of a bundle while it is
// loaded, for infra/launch.mjs. What a process calls later is compiled when it is called, as ever.
import { writeFileSync } from 'node:fs'
import { codeFor } from './launch.mjs'

const [bundle, place] = process.argv.slice(2)
const { path, code } = codeFor(bundle, place)
writeFileSync(path, code)
// It is not to start: whatever it began, it goes no further.
process.exit()
