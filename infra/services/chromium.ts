// Finds the Chromium that the tests in a browser drive, or installs Debian's: CHROMIUM_PATH, PATH, the usual places.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Progress } from './child.ts'
import { isExecutable, onPath, reason } from './nats-binary.ts'

const run = promisify(execFile)
const INSTALL_TIMEOUT_MS = 600_000
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'] as const
const PLACES = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
] as const

/** What to tell a person who has none. */
export const NO_CHROMIUM = `Chromium was not found. Do one of these:
  - as root on Debian or Ubuntu: npm run browser
  - install your system's package: apt-get install chromium, brew install --cask chromium
  - set CHROMIUM_PATH to the path of a Chromium or Chrome`

/** The path of a Chromium, or null. Throws when CHROMIUM_PATH names something that cannot be run. */
export function findChromium(): string | null {
  const named = process.env['CHROMIUM_PATH']
  if (named) {
    if (isExecutable(named)) return named
    throw new Error(`CHROMIUM_PATH=${named} is not an executable file`)
  }
  const installed = NAMES.map(name => onPath(name)).find(path => path !== null)
  return installed ?? PLACES.find(isExecutable) ?? null
}

/** As `findChromium`, and installs the system's package where that can be done. */
export async function installChromium(log: Progress): Promise<string | null> {
  const found = findChromium()
  if (found !== null || process.getuid?.() !== 0 || !onPath('apt-get')) return found
  log('Chromium is not installed; installing the package of this system (a minute or two, once)')
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const options = { env, timeout: INSTALL_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 }
    await run('apt-get', ['update'], options)
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium', 'fonts-dejavu-core'], options)
  } catch (error) {
    log(`  that did not work: ${reason(error)}`)
  }
  return findChromium()
}
