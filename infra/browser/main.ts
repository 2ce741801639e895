// Makes sure of a Chromium: finds it, installs the system's where it may, or says what to do.
import { installChromium, NO_CHROMIUM } from '../services/chromium.ts'

try {
  const path = await installChromium(line => console.log(line))
  if (path === null) throw new Error(NO_CHROMIUM)
  console.log(`Chromium is ${path}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
