// The same person with a real Chromium, which follows the policies of the pages as well as their forms.
import { launchChromium } from '../../../shared/testing/chromium.ts'
import type { Person } from './browser.ts'

/** As `approve`, in a browser of its own. The address the person is sent back to need not answer. */
export async function approveInChromium(
  identityUrl: string,
  authorizationUrl: string,
  person: Person,
  platforms: readonly string[],
): Promise<URL> {
  const chromium = await launchChromium()
  try {
    const page = await chromium.newPage()
    page.setDefaultTimeout(15_000)
    const left = page.waitForRequest(request => new URL(request.url()).origin !== identityUrl, { timeout: 20_000 })
    left.catch(() => undefined) // what keeps the person from leaving is reported below
    await page.goto(authorizationUrl)
    await page.getByLabel('E-mail').fill(person.email)
    await page.getByLabel('Password').fill(person.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    for (const platform of platforms) await page.locator(`input[name="platforms"][value="${platform}"]`).check()
    await page.getByRole('button', { name: 'Approve' }).click()
    return new URL((await left).url())
  } finally {
    await chromium.close()
  }
}
