// A real browser for tests: the system's Chromium, driven by playwright-core, which brings none of its own.
import { type Browser, chromium } from 'playwright-core'
import { inject } from 'vitest'
import type {} from './global-setup.ts'

/**
 * Parts of its own window, which nobody sees without a screen: for each page it began processes for them, half of what a page takes.
 * This replaces playwright's list; of that, plain HTTP to addresses that are not of this machine is all that our tests could meet.
 */
const UNSEEN =
  'WebUIOmniboxPopup,WebUIOmniboxFullPopup,WebUIOmniboxAimPopup,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable'

/** Whether there is a Chromium; the global set-up has said so aloud when there is none. */
export const hasChromium = (): boolean => inject('chromiumPath') !== null

/** Starts it. Throws when there is none: ask `hasChromium` first. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = inject('chromiumPath')
  if (executablePath === null) throw new Error('there is no Chromium')
  // Its sandbox needs a user other than root, and more shared memory than containers have.
  const args = [
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--disable-dev-shm-usage',
    `--disable-features=${UNSEEN}`,
  ]
  return await chromium.launch({ executablePath, args })
}
