// `npm run bench`: installs and builds what is missing, then runs the benchmark; arguments go through.
import { prepare } from './bootstrap.mjs'

await prepare()
await import('../dist/bench/main.js')
