// Passkeys as a second factor, with an authenticator made of software that can also do what it should not. The same with
// Chromium's own: identity/browser.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, openBrowser } from '../testing/browser.ts'
import { type IdentityRig, startIdentity, TEST_IDENTITY_URL } from '../testing/identity-rig.ts'
import {
  codeOf,
  gavePassword,
  newPerson,
  newTwoStepPerson,
  type Person,
  recoveryCodesOn,
} from '../testing/second-factor.ts'
import { createSoftwarePasskey, type SoftwarePasskey } from '../testing/software-passkey.ts'
import { PASSKEYS_MAX, relyingPartyOf } from './passkeys.ts'

const ORIGIN = 'http://localhost:18999'
const SECOND = '/sign-in/second'
const NEW = '/second-factor/passkeys/new'

let rig: IdentityRig
beforeAll(async () => {
  rig = await startIdentity({ identityUrl: ORIGIN })
})
afterAll(() => rig?.close())

async function addPasskey(browser: Browser, passkey: SoftwarePasskey, name = 'Laptop', more = {}) {
  const page = await browser.get(NEW)
  return await browser.submit('/second-factor/passkeys', { name, passkey: passkey.attestation(page.body, more) })
}

async function newPasskeyPerson() {
  const person = await newPerson(rig)
  const browser = await gavePassword(rig, person)
  const passkey = createSoftwarePasskey(ORIGIN)
  const added = await addPasskey(browser, passkey)
  expect(added.statusCode).toBe(200)
  return { person, browser, passkey, recoveryCodes: recoveryCodesOn(added.body) }
}

/** The second step with a passkey in a new browser. */
async function secondStep(person: Person, passkey: SoftwarePasskey, more = {}) {
  const browser = await gavePassword(rig, person)
  const page = await browser.get(SECOND)
  return { browser, answer: await browser.submit(SECOND, { passkey: passkey.assertion(page.body, more) }) }
}

test('a passkey is asked for after the password, and opens the account; recovery codes came with it', async () => {
  const { person, browser, passkey, recoveryCodes } = await newPasskeyPerson()
  expect(recoveryCodes).toHaveLength(10)
  expect((await browser.get('/second-factor')).body).toContain('Laptop')
  const { browser: other, answer } = await secondStep(person, passkey)
  expect(answer).toMatchObject({ statusCode: 303, headers: { location: '/' } })
  expect((await other.get('/second-factor')).body).toMatch(/Laptop<\/strong><br>Added on \S+, last used on/)
})

test('a passkey without finger, face or PIN is refused, when it is made and when it is used', async () => {
  const browser = await gavePassword(rig, await newPerson(rig))
  const unverified = { userVerified: false }
  expect((await addPasskey(browser, createSoftwarePasskey(ORIGIN), 'Key', unverified)).statusCode).toBe(400)
  const { person, passkey } = await newPasskeyPerson()
  expect((await secondStep(person, passkey, unverified)).answer.statusCode).toBe(401)
})

test.each([
  ['signed for another origin', { origin: 'http://localhost:18998' }],
  ['signed for a host that looks like ours', { origin: 'http://localhost.evil.example:18999' }],
  ['signed for another relying party', { rpId: 'evil.example' }],
  ['whose counter stands still: a copy', { counter: 1 }],
])('a passkey %s is refused', async (_name, more) => {
  const { person, passkey } = await newPasskeyPerson()
  expect((await secondStep(person, passkey)).answer.statusCode).toBe(303)
  expect((await secondStep(person, passkey, more)).answer.statusCode).toBe(401)
})

test('a passkey made elsewhere is refused', async () => {
  const browser = await gavePassword(rig, await newPerson(rig))
  for (const more of [{ origin: 'https://evil.example' }, { rpId: 'evil.example' }])
    expect((await addPasskey(browser, createSoftwarePasskey(ORIGIN), 'Key', more)).statusCode).toBe(400)
  expect((await browser.get('/second-factor')).body).toContain('Off.')
})

test('an answer works once, for the browser it was asked of, and for five minutes', async () => {
  const { person, passkey } = await newPasskeyPerson()
  const [mine, theirs] = [await gavePassword(rig, person), await gavePassword(rig, person)]
  const proof = passkey.assertion((await mine.get(SECOND)).body)
  await theirs.get(SECOND)
  expect((await theirs.submit(SECOND, { passkey: proof })).statusCode).toBe(401)
  expect((await mine.submit(SECOND, { passkey: proof })).statusCode).toBe(303)
  expect((await theirs.submit(SECOND, { passkey: proof })).statusCode).toBe(401)
  await theirs.get('/sign-in')
  const { browser } = await secondStep(person, passkey)
  await rig.advance(601)
  const asked = await browser.get('/confirm?act=second-factor')
  const late = passkey.assertion(asked.body)
  await rig.advance(301)
  await browser.get('/confirm?act=second-factor')
  expect((await browser.submit('/confirm', { passkey: late })).statusCode).toBe(401)
  const fresh = passkey.assertion((await browser.get('/confirm?act=second-factor')).body)
  expect((await browser.submit('/confirm', { passkey: fresh })).headers.location).toBe('/second-factor')
})

test("another user's passkey opens nothing, and cannot be taken over", async () => {
  const [ada, eve] = [await newPasskeyPerson(), await newPasskeyPerson()]
  expect((await secondStep(ada.person, eve.passkey)).answer.statusCode).toBe(401)
  expect((await addPasskey(eve.browser, ada.passkey)).statusCode).toBe(400)
  const [row] = await rig.sql(
    `select p.id from user_passkeys p join users u on u.id = p.user_id where u.username = $1`,
    [ada.person.email],
  )
  await eve.browser.get('/second-factor')
  const removal = await eve.browser.submit('/second-factor/passkeys/remove', { passkey_id: String(row?.['id']) })
  expect(removal.statusCode).toBe(404)
  expect((await secondStep(ada.person, ada.passkey)).answer.statusCode).toBe(303)
})

test('a user has ten at most, each with its name, which is only text', async () => {
  const { browser } = await newPasskeyPerson()
  for (let count = 1; count < PASSKEYS_MAX; count += 1)
    expect((await addPasskey(browser, createSoftwarePasskey(ORIGIN), '<img src=x>\u202e')).statusCode).toBe(303)
  await browser.get('/second-factor')
  expect((await browser.submit('/second-factor/passkeys/remove', { passkey_id: '\u0000' })).statusCode).toBe(400)
  const page = (await browser.get('/second-factor')).body
  expect(page).toContain('&lt;img src=x&gt;')
  expect(page).not.toContain('<img')
  expect((await browser.get(NEW)).headers.location).toBe('/second-factor')
})

test('removing the last factor turns the second step off, and its recovery codes with it', async () => {
  const { person, browser } = await newPasskeyPerson()
  await browser.get('/second-factor')
  expect((await browser.submit('/second-factor/passkeys/remove', {})).statusCode).toBe(303)
  expect((await gavePassword(rig, person)).cookies.has('__Host-sid')).toBe(true)
  const left = await rig.sql(
    `select 1 from user_recovery_codes c join users u on u.id = c.user_id where u.username = $1`,
    [person.email],
  )
  expect(left).toEqual([])
})

test('a passkey beside an authenticator app: either opens the account, and no codes are made anew', async () => {
  const person = await newTwoStepPerson(rig)
  const passkey = createSoftwarePasskey(ORIGIN)
  expect((await addPasskey(person.browser, passkey)).headers.location).toBe('/second-factor')
  const { browser, answer } = await secondStep(person, passkey)
  expect(answer.statusCode).toBe(303)
  expect((await browser.get('/second-factor')).body).toContain('10 left')
})

test('an authenticator app that was begun and not confirmed proves nothing, beside a passkey or alone', async () => {
  const { person, browser } = await newPasskeyPerson()
  await browser.get('/second-factor')
  await browser.submit('/second-factor/authenticator', {})
  const page = await browser.get('/second-factor/authenticator')
  const secret = (/<code class="key">([A-Z2-7 ]+)</.exec(page.body)?.[1] ?? '').replaceAll(' ', '')
  expect(secret).toHaveLength(32)
  const half = await gavePassword(rig, person)
  expect((await half.get(SECOND)).body).not.toContain('Code from your authenticator app')
  expect((await half.submit(SECOND, { code: await codeOf(rig, secret) })).statusCode).toBe(401)
  await browser.get('/confirm?act=second-factor')
  expect((await browser.submit('/confirm', { code: await codeOf(rig, secret) })).statusCode).toBe(401)
})

test('the one script is our own file, on the pages that ask for a passkey and on no other', async () => {
  const { person, browser } = await newPasskeyPerson()
  const script = await browser.get('/assets/passkeys.mjs')
  expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8')
  const half = await gavePassword(rig, person)
  for (const page of [await half.get(SECOND), await browser.get(NEW)]) {
    expect(page.body.match(/<script[^>]*>/g)).toEqual(['<script type="module" src="/assets/passkeys.mjs">'])
    expect(page.headers['content-security-policy']).toContain("script-src 'self';")
  }
  for (const path of ['/', '/second-factor', '/connected-apps', '/sign-in'])
    expect((await browser.get(path)).body).not.toContain('<script')
})

test.each([
  ['https://id.example.com', 'id.example.com'],
  ['https://id.example.com:8443', 'id.example.com'],
  ['http://localhost:8081', 'localhost'],
  ['http://127.0.0.1:8081', null],
  ['http://[::1]:8081', null],
  ['http://id.example.com', null],
  ['https://10.0.0.1', null],
])('at %s browsers make passkeys for %s', (url, rpId) => {
  expect(relyingPartyOf(url)?.rpId ?? null).toBe(rpId)
})

test('where browsers make none, the page says so and the rest works', async () => {
  const numbered = await startIdentity()
  try {
    expect(new URL(TEST_IDENTITY_URL).hostname).toBe('127.0.0.1')
    const browser = openBrowser(numbered.app)
    await browser.get('/sign-in')
    await browser.submit('/sign-in', numbered.user)
    expect((await browser.get('/second-factor')).body).toContain('Not possible at this address')
    expect((await browser.get(NEW)).headers.location).toBe('/second-factor')
    await browser.get('/second-factor')
    const forced = await browser.submit('/second-factor/passkeys', { name: 'x', passkey: '{}' })
    expect(forced.headers.location).toBe('/second-factor')
  } finally {
    await numbered.close()
  }
})
