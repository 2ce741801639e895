// Second factors in a real browser, passkeys with its own virtual authenticator. The rules without a browser are in
// second-factor/*.it.test.ts.
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium } from '../../shared/testing/chromium.ts'
import { type ChromiumRig, signInOn, startChromiumRig } from '../testing/chromium-rig.ts'
import { codeOf, newPerson } from '../testing/second-factor.ts'

describe.runIf(hasChromium())('in Chromium', () => {
  let rig: ChromiumRig
  beforeAll(async () => {
    rig = await startChromiumRig()
  })
  afterAll(() => rig?.close())

  /** A signed-in page of a new user. */
  async function newUserPage(options = {}) {
    const person = await newPerson(rig.identity)
    const page = await rig.newPage(options)
    await page.goto('/')
    await signInOn(page, person)
    await page.getByRole('link', { name: 'Second factor' }).click()
    return { person, page }
  }

  async function signOut(page: Page): Promise<void> {
    await page.goto('/')
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }

  async function addPasskey(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByLabel('What you call it').fill('Work laptop')
    await page.getByRole('button', { name: 'Add the passkey' }).click()
    await page.getByRole('heading', { name: 'Recovery codes' }).waitFor()
  }

  test('a passkey is made, asked for at the next sign-in, leads on to the application that waits, and is removed', async () => {
    const { person, page } = await newUserPage()
    await virtualAuthenticator(page)
    await addPasskey(page)
    await signOut(page)
    const { client, redirectUri, start } = await rig.newClient()
    await page.goto(start)
    await signInOn(page, person)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByLabel('Platform A – LIVE').check()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(url => url.pathname === '/callback')
    const code = rig.elsewhere.callbacks.at(-1)?.searchParams.get('code') ?? ''
    expect((await client.redeem(code, { redirect_uri: redirectUri })).statusCode).toBe(200)
    await page.goto('/second-factor')
    await page.getByRole('button', { name: 'Remove Work laptop' }).click()
    await page.getByText('Off. Your password alone').waitFor()
  })

  test('an authenticator that does not verify its user is refused by the browser, and the page says so', async () => {
    const { person, page } = await newUserPage()
    const { session, authenticatorId } = await virtualAuthenticator(page)
    await addPasskey(page)
    await signOut(page)
    await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await signInOn(page, person)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('No passkey was given')
    await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByText('Signed in as').waitFor()
  })

  test('an authenticator app is set up and used without scripts, and so is a recovery code', async () => {
    const { person, page } = await newUserPage({ javaScriptEnabled: false })
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
    const secret = ((await page.locator('code.key').textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('Code that the app shows now').fill(await codeOf(rig.identity, secret))
    await page.getByRole('button', { name: 'Turn on' }).click()
    const [recovery = ''] = await page.locator('.codes code').allTextContents()
    await page.getByRole('link', { name: 'I have them' }).click()
    await signOut(page)
    await signInOn(page, person)
    await page.getByLabel('Code from your authenticator app').fill(await codeOf(rig.identity, secret, 1))
    await page.getByRole('button', { name: 'Continue' }).first().click()
    await page.getByText('Signed in as').waitFor()
    await signOut(page)
    await signInOn(page, person)
    await page.getByText('Use a recovery code').click()
    await page.getByLabel('Recovery code', { exact: true }).fill(recovery)
    await page.keyboard.press('Enter')
    await page.getByText('Signed in as').waitFor()
  })

  test('an hour later a change asks first, and the way back leads to it', async () => {
    const { person, page } = await newUserPage()
    await rig.identity.advance(3_600)
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByLabel('Password').fill(person.password)
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('heading', { name: 'Add a passkey' }).waitFor()
  })
})

/** A key of the device with a user who is recognised at once, as `chrome://` device emulation has it. */
async function virtualAuthenticator(page: Page): Promise<{ session: CDPSession; authenticatorId: string }> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { session, authenticatorId }
}
