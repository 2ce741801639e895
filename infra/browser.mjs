// `npm run browser`: makes sure of the Chromium that the tests in a browser drive; installs the system's when it may.
import { prepare, say } from './bootstrap.mjs'

await prepare()
const { installChromium, NO_CHROMIUM } = await import('../dist/infra/services/chromium.js')
try {
  const path = await installChromium(say)
  if (path === null) throw new Error(NO_CHROMIUM)
  say(`Chromium is ${path}`)
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
