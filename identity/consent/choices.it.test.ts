// What a user chooses on the consent page: how much, and where.
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../testing/browser.ts'
import { type IdentityRig, startIdentity } from '../testing/identity-rig.ts'
import { consentPage, openConsent, registerClient } from '../testing/oauth-client.ts'

let rig: IdentityRig
beforeAll(async () => {
  rig = await startIdentity()
})
afterAll(() => rig?.close())

test('who is asked for write may give read alone, and the client learns it', async () => {
  const client = await registerClient(rig)
  const { browser } = await openConsent(rig, client)
  const answer = await browser.submit(
    '/consent',
    { decision: 'approve', access: 'read' },
    { platforms: [`${rig.platforms[0].id}:TEST`] },
  )
  const code = new URL(String(answer.headers.location)).searchParams.get('code') ?? ''
  const tokens = (await client.redeem(code)).json()
  expect(tokens.scope).toBe('service:read')
  expect(decodeJwt(tokens.access_token)['scope']).toBe('service:read')
  const widened = await client.refresh(tokens.refresh_token, { scope: 'service:read service:write' })
  expect(widened.json().error).toBe('invalid_scope')
})

test('the field that gives less never gives more', async () => {
  const client = await registerClient(rig)
  const browser = openBrowser(rig.app)
  const page = await consentPage(rig, browser, await client.authorize(browser, { scope: 'service:read' }))
  expect(page.body).not.toContain('name="access"')
  const choices = { platforms: [`${rig.platforms[0].id}:TEST`] }
  const answer = await browser.submit('/consent', { decision: 'approve', access: 'write' }, choices)
  const code = new URL(String(answer.headers.location)).searchParams.get('code') ?? ''
  expect((await client.redeem(code)).json().scope).toBe('service:read')
})

test('on the consent page LIVE looks like LIVE and comes after TEST, and Deny does not look like Approve', async () => {
  const client = await registerClient(rig)
  const browser = openBrowser(rig.app)
  const { body } = await consentPage(rig, browser, await client.authorize(browser))
  const choices = [...body.matchAll(/name="platforms" value="([^"]+)"/g)].map(([, value]) => value)
  expect(choices).toEqual(rig.platforms.slice(0, choices.length / 2).flatMap(({ id }) => [`${id}:TEST`, `${id}:LIVE`]))
  expect(body).toContain('<strong class="live">LIVE</strong> real customers and invoices')
  expect(body).toContain('<button name="decision" value="approve">')
  expect(body).toContain('<button class="second" name="decision" value="deny"')
})
