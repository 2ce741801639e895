// Acts that change how one signs in ask who it is, when that was shown longer than ten minutes ago (security section 3).
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from '../testing/browser.ts'
import { type IdentityRig, startIdentity } from '../testing/identity-rig.ts'
import { codeOf, gavePassword, newPerson, newTwoStepPerson } from '../testing/second-factor.ts'

let rig: IdentityRig
beforeAll(async () => {
  rig = await startIdentity()
})
afterAll(() => rig?.close())

const ASKED = '/confirm?act=second-factor'
const STEP_UP_TARGETS: readonly (readonly [string, Record<string, string>])[] = [
  ['/second-factor/authenticator', {}],
  ['/second-factor/authenticator/remove', {}],
  ['/second-factor/recovery-codes', {}],
  ['/second-factor/passkeys/remove', { passkey_id: 'pkey_0' }],
]
const attempt = async (browser: Browser, [path, fields]: (typeof STEP_UP_TARGETS)[number]) => {
  await browser.get('/second-factor')
  return (await browser.submit(path, fields)).headers.location
}

test.each(STEP_UP_TARGETS)('%s is free for ten minutes after signing in, then asks', async (...act) => {
  const browser = await gavePassword(rig, await newPerson(rig))
  await rig.advance(590)
  expect(await attempt(browser, act)).not.toBe(ASKED)
  await rig.advance(20)
  expect(await attempt(browser, act)).toBe(ASKED)
})

test('so do the pages that show a key or make a passkey, and the forms on them', async () => {
  const browser = await gavePassword(rig, await newPerson(rig))
  await rig.advance(610)
  expect((await browser.get('/second-factor/authenticator')).headers.location).toBe('/confirm?act=authenticator')
  expect((await browser.get('/second-factor/passkeys/new')).headers.location).toBe('/confirm?act=passkey')
  const code = { code: '000000' }
  expect(await attempt(browser, ['/second-factor/authenticator/confirm', code])).toBe('/confirm?act=authenticator')
  const passkey = { name: 'x', passkey: '{}' }
  expect(await attempt(browser, ['/second-factor/passkeys', passkey])).toBe('/confirm?act=passkey')
})

test('looking, ending sessions and disconnecting never ask', async () => {
  const person = await newPerson(rig)
  const browser = await gavePassword(rig, person)
  await rig.advance(610)
  for (const path of ['/connected-apps', '/second-factor', '/']) expect((await browser.get(path)).statusCode).toBe(200)
  expect((await browser.submit('/connected-apps/disconnect', { grant: 'gran_0' })).statusCode).toBe(404)
  expect((await browser.submit('/sign-out-everywhere', {})).headers.location).toBe('/sign-in')
})

test('the password opens the next ten minutes for a user who has no second factor, with a new session token', async () => {
  const person = await newPerson(rig)
  const browser = await gavePassword(rig, person)
  await rig.advance(610)
  const before = browser.cookies.get('__Host-sid') ?? ''
  const page = await browser.get(ASKED)
  expect(page.body).toContain('Password')
  const wrong = await browser.submit('/confirm', { password: 'wrong' })
  expect(wrong.statusCode).toBe(401)
  expect(wrong.body).toContain('That is not your password.')
  const right = await browser.submit('/confirm', { password: person.password })
  expect(right).toMatchObject({ statusCode: 303, headers: { location: '/second-factor' } })
  expect(browser.cookies.get('__Host-sid')).not.toBe(before)
  expect(await attempt(browser, ['/second-factor/authenticator', {}])).toBe('/second-factor/authenticator')
  browser.cookies.set('__Host-sid', before)
  expect((await browser.get('/')).headers.location).toBe('/sign-in')
})

test('a user with a second factor is asked for that, and the password is not enough', async () => {
  const person = await newTwoStepPerson(rig)
  await rig.advance(610)
  const page = await person.browser.get(ASKED)
  expect(page.body).toContain('Code from your authenticator app')
  expect(page.body).not.toContain('name="password"')
  expect((await person.browser.submit('/confirm', { password: person.password })).statusCode).toBe(401)
  expect(await attempt(person.browser, ['/second-factor/authenticator/remove', {}])).toBe(ASKED)
  await person.browser.get(ASKED)
  const right = await person.browser.submit('/confirm', { code: await codeOf(rig, person.secret) })
  expect(right.headers.location).toBe('/second-factor')
  expect(await attempt(person.browser, ['/second-factor/authenticator/remove', {}])).toBe('/second-factor')
})

test('guessing here counts as guessing at the second step', async () => {
  const person = await newTwoStepPerson(rig)
  await person.browser.get(ASKED)
  for (let time = 0; time < 5; time += 1)
    expect((await person.browser.submit('/confirm', { code: '000000' })).statusCode).toBe(401)
  const waits = await person.browser.submit('/confirm', { code: await codeOf(rig, person.secret) })
  expect(waits.statusCode).toBe(429)
  const browser = await gavePassword(rig, person)
  await browser.get('/sign-in/second')
  expect((await browser.submit('/sign-in/second', { code: await codeOf(rig, person.secret) })).statusCode).toBe(429)
})

test('it leads to pages of ours by name, and nowhere else', async () => {
  const person = await newPerson(rig)
  const browser = await gavePassword(rig, person)
  for (const act of ['https://evil.example', '//evil.example', '/second-factor', 'toString', ''])
    expect((await browser.get(`/confirm?act=${encodeURIComponent(act)}`)).headers.location).toBe('/')
  await browser.get(ASKED)
  const sent = await browser.submit('/confirm', { act: '//evil.example', password: person.password })
  expect(sent.headers.location).toBe('/')
})

test('a form from elsewhere is refused', async () => {
  const person = await newPerson(rig)
  const browser = await gavePassword(rig, person)
  for (const path of ['/confirm', '/second-factor/authenticator', '/sign-in/second']) {
    const answer = await rig.app.inject({
      method: 'POST',
      url: path,
      headers: {
        cookie: [...browser.cookies].map(pair => pair.join('=')).join('; '),
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'cross-site',
      },
      payload: `act=second-factor&password=${person.password}`,
    })
    expect(answer.statusCode).toBe(403)
  }
})

// A changed password counts as a fresh proof; without this, a stolen session and a known password would remove the factor.
test('a user with a second factor gives it before the password is changed; another needs the password alone', async () => {
  const fields = (password: string) => {
    const next = 'a new and rather long password'
    return { password, new_password: next, repeated: next }
  }
  const person = await newTwoStepPerson(rig)
  await rig.advance(610)
  expect((await person.browser.get('/password')).headers.location).toBe('/confirm?act=password')
  await person.browser.get('/')
  const refused = await person.browser.submit('/password', fields(person.password))
  expect(refused.headers.location).toBe('/confirm?act=password')
  expect((await gavePassword(rig, person)).cookies.has('__Host-second')).toBe(true)
  await person.browser.get('/confirm?act=password')
  const proven = await person.browser.submit('/confirm', { code: await codeOf(rig, person.secret) })
  expect(proven.headers.location).toBe('/password')
  await person.browser.get('/password')
  const changed = await person.browser.submit('/password', fields(person.password))
  expect(changed.headers.location).toBe('/password?done=1')
  const other = await newPerson(rig)
  const browser = await gavePassword(rig, other)
  await rig.advance(610)
  await browser.get('/password')
  expect((await browser.submit('/password', fields(other.password))).headers.location).toBe('/password?done=1')
})
