// `npm test`: installs and builds what is missing, makes sure of a nats-server, then runs vitest with the arguments given.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { prepare, ROOT, say } from './bootstrap.mjs'

await prepare()
const { findNatsServer } = await import('../dist/infra/services/nats-binary.js')
const { BUILT } = await import('../dist/infra/services/project.js')
try {
  await findNatsServer(say)
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const child = spawn(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: 'inherit',
  // Processes that tests start run what was built.
  env: { ...process.env, [BUILT]: 'true' },
})
// Ctrl-C reaches vitest from the terminal; it then tears its servers down, and this process waits for that.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.once('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
