// Signing in and consenting as people do it: in a real browser, which enforces what the headers only ask for. The same rules
// without a browser are in oauth.it.test.ts and sign-in.it.test.ts.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createUser } from '../../shared/access/create-platform.ts'
import { hasChromium } from '../../shared/testing/chromium.ts'
import { type ChromiumRig, signInOn, startChromiumRig } from '../testing/chromium-rig.ts'

describe.runIf(hasChromium())('in Chromium', () => {
  let rig: ChromiumRig
  beforeAll(async () => {
    rig = await startChromiumRig()
  })
  afterAll(() => rig?.close())

  const lastCallback = () => rig.elsewhere.callbacks.at(-1)?.searchParams

  test('a user signs in, approves, and the browser follows the form to the application with a code that redeems', async () => {
    const { client, redirectUri, start } = await rig.newClient()
    const page = await rig.newPage()
    await page.goto(start)
    await signInOn(page, rig.identity.user)
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('Allow access?')
    // The user has two memberships, so none is chosen for them.
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0)
    await page.getByLabel('Platform A – LIVE').check()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(url => url.pathname === '/callback')
    expect(lastCallback()?.get('state')).toBe('state-1')
    expect(lastCallback()?.get('iss')).toBe(rig.identityUrl)
    const redeemed = await client.redeem(lastCallback()?.get('code') ?? '', { redirect_uri: redirectUri })
    expect(redeemed.json()).toMatchObject({ token_type: 'Bearer', scope: 'service:read service:write' })
  })

  test('a user denies, and the application is told so', async () => {
    const { start } = await rig.newClient()
    const page = await rig.newPage()
    await page.goto(start)
    await signInOn(page, rig.identity.user)
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.waitForURL(url => url.pathname === '/callback')
    expect(Object.fromEntries(lastCallback() ?? [])).toEqual({
      error: 'access_denied',
      state: 'state-1',
      iss: rig.identityUrl,
    })
  })

  // Under the same name a page elsewhere is of our own site, so that the browser sends our cookies into its frames.
  test.each(['localhost', '127.0.0.1'])('a consent page framed by a page at %s is blank', async host => {
    const { start } = await rig.newClient()
    const page = await rig.newPage()
    await page.goto(start)
    await signInOn(page, rig.identity.user)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const framed = encodeURIComponent(page.url())
    await page.goto(`http://${host}:${rig.elsewhere.port}/?frame=${framed}`)
    await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
    expect(await page.frames()[1]?.content()).not.toContain('Allow access')
  })

  test('everything works with the keyboard alone, and what has the focus shows it', async () => {
    const { start } = await rig.newClient()
    const page = await rig.newPage()
    await page.goto(start)
    await tabTo(page, 'E-mail')
    await page.keyboard.type(rig.identity.user.email)
    await tabTo(page, 'Password')
    await page.keyboard.type(rig.identity.user.password)
    await tabTo(page, 'Sign in')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await tabTo(page, 'Platform A – TEST')
    await page.keyboard.press('Space')
    await tabTo(page, 'Approve')
    await page.keyboard.press('Enter')
    await page.waitForURL(url => url.pathname === '/callback')
    expect(lastCallback()?.get('code')).toMatch(/^[\w-]{43}$/)
  })

  test('a wrong password is said, to screen readers too, and the e-mail need not be typed again', async () => {
    const page = await rig.newPage()
    await page.goto('/sign-in')
    await signInOn(page, { ...rig.identity.user, password: 'wrong' })
    await expect.poll(() => page.getByRole('alert').textContent()).toBe('E-mail and password do not match an account.')
    expect(await page.getByLabel('E-mail').inputValue()).toBe(rig.identity.user.email)
  })

  test('a browser without scripts gets everything', async () => {
    const { start } = await rig.newClient()
    const page = await rig.newPage({ javaScriptEnabled: false })
    await page.goto(start)
    await signInOn(page, rig.identity.user)
    await page.getByLabel('Platform A – LIVE').check()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(url => url.pathname === '/callback')
    expect(lastCallback()?.get('code')).toMatch(/^[\w-]{43}$/)
  })

  test('signed out is signed out: the way back leads to the sign-in form', async () => {
    const page = await rig.newPage()
    await page.goto('/')
    const user = await createUser(rig.identity.databaseUrl, 'grace@example.com', [rig.identity.platforms[0].id])
    await signInOn(page, user)
    await page.getByText('Signed in as').waitFor()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})

/** Presses Tab until the element of this name has the focus; throws when it is not reached, or does not show it. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 30; presses += 1) {
    await page.keyboard.press('Tab')
    const focus = await page.evaluate<{ name: string; outline: string }>(`(() => {
      const element = document.activeElement
      const name = element.labels?.[0]?.textContent ?? element.textContent
      return { name: name.trim(), outline: getComputedStyle(element).outlineStyle }
    })()`)
    if (focus.name !== name) continue
    if (focus.outline !== 'solid') throw new Error(`${name} has the focus and does not show it`)
    return
  }
  throw new Error(`the Tab key does not reach ${name}`)
}
