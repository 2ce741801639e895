// A real browser for tests: the system's Chromium, driven by playwright-core, which brings none of its own.
import { type Browser, chromium } from 'playwright-core'
import { inject } from 'vitest'
import type {} from './global-setup.ts'

/** Whether there is a Chromium; the global set-up has said so aloud when there is none. */
export const hasChromium = (): boolean => inject('chromiumPath') !== null

/** Starts it. Throws when there is none: ask `hasChromium` first. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = inject('chromiumPath')
  if (executablePath === null) throw new Error('there is no Chromium')
  // Its sandbox needs a user other than root, and more shared memory than containers have.
  const args = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-dev-shm-usage']
  return await chromium.launch({ executablePath, args })
}
