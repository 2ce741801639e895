// `npm test`: installs what is missing, then runs vitest with the arguments given. Tests that start processes run what is built:
// a whole run builds first; a run of single files takes dist/ if it is of these sources, and compiles as it goes if not. What
// test files import is compiled here as well, a second the first time.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { isBuilt, prepare, prepareSources, ROOT, sources } from './bootstrap.mjs'
import { compileModules } from './test-modules.mjs'

const args = process.argv.slice(2)
const isWhole = args.length === 0
await (isWhole ? prepare() : prepareSources())
const modules = join(ROOT, '.tools', 'test-modules')
await compileModules(ROOT, modules, sources())
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const child = spawn(process.execPath, [vitest, 'run', ...args], {
  cwd: ROOT,
  stdio: 'inherit',
  // infra/services/project.ts reads the first, shared/testing/native-modules.ts the second.
  env: { ...process.env, MILLRACE_BUILT: String(isBuilt()), MILLRACE_TEST_MODULES: modules },
})
// Ctrl-C reaches vitest from the terminal; it then tears its servers down, and this process waits for that.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.once('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
