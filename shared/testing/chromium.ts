// A real browser for tests: the system's Chromium, driven by playwright-core, which brings none of its own.
import { type Browser, chromium } from 'playwright-core'
import { inject } from 'vitest'
import type {} from './global-setup.ts'

/**
 * Features of Chromium that tests do without. The first three are menus of its address bar: they started processes for each page, which
 * took half of the page's processor time. Chromium takes the last list it is given, so this replaces that of playwright; the last two
 * are the ones of playwright's that could matter here.
 */
const DISABLED_FEATURES =
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
    `--disable-features=${DISABLED_FEATURES}`,
  ]
  return await chromium.launch({ executablePath, args })
}
