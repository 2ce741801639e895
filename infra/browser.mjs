// `npm run browser`: makes sure of the Chromium that the tests in a browser drive.
import { prepare } from './bootstrap.mjs'

await prepare()
await import('../dist/infra/browser/main.js')
