// `npm start`: installs and builds what is missing, then runs the supervisor in this same process, so that a signal sent
// to it needs no forwarding.
import { prepare } from './bootstrap.mjs'

await prepare()
await import('../dist/infra/start/main.js')
