// Second factors as a user meets them, and as somebody meets them who knows the password and is not the user (security
// section 3: MFA). The same in a real browser: identity/browser.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../testing/browser.ts'
import { type IdentityRig, startIdentity } from '../testing/identity-rig.ts'
import { mailsOf } from '../testing/mails.ts'
import { registerClient } from '../testing/oauth-client.ts'
import { codeOf, gavePassword, newPerson, newTwoStepPerson, recoveryCodesOn } from '../testing/second-factor.ts'
import { waitMessage } from './second-step.ts'

let rig: IdentityRig
beforeAll(async () => {
  rig = await startIdentity()
  await rig.stopClock()
})
afterAll(() => rig?.close())

const SECOND = '/sign-in/second'

test('with an authenticator app the password alone opens nothing, and the code after it does', async () => {
  const person = await newTwoStepPerson(rig)
  const browser = await gavePassword(rig, person)
  expect(browser.cookies.has('__Host-sid')).toBe(false)
  for (const path of ['/', '/connected-apps', '/second-factor', '/confirm?act=second-factor'])
    expect((await browser.get(path)).headers.location).toBe('/sign-in')
  const page = await browser.get(SECOND)
  expect(page.body).toContain('Code from your authenticator app')
  const answer = await browser.submit(SECOND, { code: await codeOf(rig, person.secret) })
  expect(answer).toMatchObject({ statusCode: 303, headers: { location: '/' } })
  expect((await browser.get('/')).body).toContain(person.email)
  expect(browser.cookies.has('__Host-second')).toBe(false)
})

test('an authorization request waits for both steps, and for the request of the first step only', async () => {
  const person = await newTwoStepPerson(rig)
  const client = await registerClient(rig)
  const browser = openBrowser(rig.app)
  const consent = await browser.get(String((await client.authorize(browser)).headers.location))
  await browser.get(String(consent.headers.location))
  const first = await browser.submit('/sign-in', { email: person.email, password: person.password })
  expect(first.headers.location).toBe(SECOND)
  await browser.get(SECOND)
  const code = await codeOf(rig, person.secret)
  const second = await browser.submit(SECOND, { code, request: 'areq_0000000000000000000000' })
  expect(second.headers.location).toMatch(/^\/consent\?request=areq_(?!0{22})/)
  expect((await browser.get(String(second.headers.location))).body).toContain('Allow access?')
})

test('the second step is nobody’s without the first: not another browser’s, not after five minutes, not a second time', async () => {
  const person = await newTwoStepPerson(rig)
  const stranger = openBrowser(rig.app)
  await stranger.get('/sign-in')
  const code = await codeOf(rig, person.secret)
  expect((await stranger.submit(SECOND, { code })).headers.location).toBe('/sign-in')
  const late = await gavePassword(rig, person)
  await late.get(SECOND)
  await rig.advance(301)
  const answer = await late.submit(SECOND, { code: await codeOf(rig, person.secret) })
  expect(answer.headers.location).toBe('/sign-in')
  const browser = await gavePassword(rig, person)
  const pending = browser.cookies.get('__Host-second') ?? ''
  await browser.get(SECOND)
  await browser.submit(SECOND, { code: await codeOf(rig, person.secret) })
  browser.cookies.set('__Host-second', pending)
  await rig.advance(30)
  expect((await browser.submit(SECOND, { code: await codeOf(rig, person.secret) })).headers.location).toBe('/sign-in')
})

test('a code is taken one step early or late, no further, and once', async () => {
  const person = await newTwoStepPerson(rig)
  const statusOf = async (code: string) => {
    const browser = await gavePassword(rig, person)
    await browser.get(SECOND)
    return (await browser.submit(SECOND, { code })).statusCode
  }
  expect(await statusOf(await codeOf(rig, person.secret, -2))).toBe(401)
  expect(await statusOf(await codeOf(rig, person.secret, 2))).toBe(401)
  const early = await codeOf(rig, person.secret, -1)
  expect(await statusOf(early)).toBe(303)
  expect(await statusOf(early)).toBe(401)
  expect(await statusOf(await codeOf(rig, person.secret, 1))).toBe(303)
  // The present one is before the last that was taken.
  expect(await statusOf(await codeOf(rig, person.secret))).toBe(401)
})

test('of twenty sign-ins with one code at once, one succeeds', async () => {
  const person = await newTwoStepPerson(rig)
  const code = await codeOf(rig, person.secret)
  const browsers = []
  for (let count = 0; count < 20; count += 1) {
    const browser = await gavePassword(rig, person)
    await browser.get(SECOND)
    browsers.push(browser)
  }
  const answers = await Promise.all(browsers.map(browser => browser.submit(SECOND, { code })))
  expect(answers.filter(answer => answer.statusCode === 303)).toHaveLength(1)
})

test('five wrong ones make the next wait, ever longer, whatever is sent and from whichever browser; the right one starts anew', async () => {
  const person = await newTwoStepPerson(rig)
  const ready = async () => {
    const browser = await gavePassword(rig, person)
    await browser.get(SECOND)
    return browser
  }
  const attempt = async (fields: Record<string, string>) => await (await ready()).submit(SECOND, fields)
  const [one, two] = [await ready(), await ready()]
  // Fifty at once are fifty tries, not one.
  const parallel = await Promise.all(
    Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? one : two).submit(SECOND, { code: '000000' })),
  )
  expect(parallel.filter(answer => answer.statusCode === 401)).toHaveLength(5)
  expect(parallel.filter(answer => answer.statusCode === 429)).toHaveLength(45)
  const blocked = await attempt({ code: await codeOf(rig, person.secret) })
  expect(blocked.statusCode).toBe(429)
  expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(20)
  expect(blocked.body).toContain('Too many wrong tries')
  expect((await attempt({ recovery: person.recoveryCodes[0] ?? '' })).statusCode).toBe(429)
  const waits = []
  for (let round = 0; round < 10; round += 1) {
    const wait = Number((await attempt({ code: '000000' })).headers['retry-after'])
    waits.push(wait)
    await rig.advance(wait)
    expect((await attempt({ code: 'wrong' })).statusCode).toBe(401)
  }
  expect(waits.map(wait => Math.round(wait / 30))).toEqual([1, 2, 4, 8, 16, 32, 64, 120, 120, 120])
  await rig.advance(3_600)
  expect((await attempt({ code: await codeOf(rig, person.secret) })).statusCode).toBe(303)
  expect((await attempt({ code: '000000' })).statusCode).toBe(401)
  expect((await attempt({ code: '000000' })).statusCode).toBe(401)
})

test('a wait is said in words that fit it', () => {
  expect(waitMessage(30)).toContain('30 seconds')
  expect(waitMessage(3_600)).toContain('60 minutes')
})

test('each of ten recovery codes opens the account once, however it is typed, and nobody else’s', async () => {
  const [person, other] = [await newTwoStepPerson(rig), await newTwoStepPerson(rig)]
  expect(new Set(person.recoveryCodes).size).toBe(10)
  const [code = ''] = person.recoveryCodes
  expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$/)
  const attempt = async (whose: typeof person, recovery: string) => {
    const browser = await gavePassword(rig, whose)
    await browser.get(SECOND)
    return { browser, status: (await browser.submit(SECOND, { recovery })).statusCode }
  }
  expect((await attempt(other, code)).status).toBe(401)
  const typed = ` ${code.replaceAll('-', ' ').toUpperCase().replaceAll('1', 'I').replaceAll('0', 'O')} `
  const { browser, status } = await attempt(person, typed)
  expect(status).toBe(303)
  expect((await browser.get('/second-factor')).body).toContain('9 left')
  expect((await attempt(person, code)).status).toBe(401)
  const made = await browser.submit('/second-factor/recovery-codes', {})
  const fresh = recoveryCodesOn(made.body)
  expect(fresh).toHaveLength(10)
  expect((await attempt(person, person.recoveryCodes[1] ?? '')).status).toBe(401)
  expect((await attempt(person, fresh[0] ?? '')).status).toBe(303)
})

test('nothing in the database is of use to whoever reads it', async () => {
  const person = await newTwoStepPerson(rig)
  const browser = await gavePassword(rig, person)
  const tables = ['user_authenticators', 'user_recovery_codes', 'pending_sign_ins', 'outbox']
  const rows = await Promise.all(tables.map(table => rig.sql(`select * from ${table}`)))
  expect(rows.every(table => table.length > 0)).toBe(true)
  const stored = JSON.stringify(rows)
  for (const secret of [person.secret, ...person.recoveryCodes, browser.cookies.get('__Host-second') ?? 'none'])
    expect(stored).not.toContain(secret)
})

test('a sealed key is of no use in another user’s row', async () => {
  const [mallory, victim] = [await newTwoStepPerson(rig), await newTwoStepPerson(rig)]
  const idOf = `select id from users where username = $1`
  await rig.sql(
    `update user_authenticators set secret_sealed = (select secret_sealed from user_authenticators where user_id = (${idOf}))
     where user_id = (select id from users where username = $2)`,
    [mallory.email, victim.email],
  )
  const browser = await gavePassword(rig, victim)
  await browser.get(SECOND)
  expect((await browser.submit(SECOND, { code: await codeOf(rig, mallory.secret) })).statusCode).toBe(500)
})

test('an authenticator counts from its first right code on', async () => {
  const person = await newPerson(rig)
  const browser = await gavePassword(rig, person)
  await browser.get('/second-factor')
  await browser.submit('/second-factor/authenticator', {})
  await browser.get('/second-factor/authenticator')
  const wrong = await browser.submit('/second-factor/authenticator/confirm', { code: '000000' })
  expect(wrong.statusCode).toBe(400)
  expect((await gavePassword(rig, person)).cookies.has('__Host-sid')).toBe(true)
})

test('the key is shown as a QR code, in letters, and not again once it is in use', async () => {
  const person = await newPerson(rig)
  const browser = await gavePassword(rig, person)
  expect((await browser.get('/second-factor/authenticator')).headers.location).toBe('/second-factor')
  await browser.get('/second-factor')
  await browser.submit('/second-factor/authenticator', {})
  const page = (await browser.get('/second-factor/authenticator')).body
  expect(page).toMatch(/<svg class="qr" [^>]*role="img" aria-label="QR code/)
  const secret = (/<code class="key">([A-Z2-7 ]{39})</.exec(page)?.[1] ?? '').replaceAll(' ', '')
  await browser.submit('/second-factor/authenticator/confirm', { code: await codeOf(rig, secret) })
  expect((await browser.get('/second-factor/authenticator')).headers.location).toBe('/second-factor')
  // A new set-up does not touch the one in use.
  await browser.get('/second-factor')
  await browser.submit('/second-factor/authenticator', {})
  expect((await browser.get('/second-factor/authenticator')).headers.location).toBe('/second-factor')
  await rig.advance(60)
  const again = await gavePassword(rig, person)
  await again.get(SECOND)
  expect((await again.submit(SECOND, { code: await codeOf(rig, secret) })).statusCode).toBe(303)
})

test('a change of factors ends every other session and half-done sign-in of the user, who is told by mail, and their tenants by the outbox', async () => {
  const person = await newPerson(rig)
  const elsewhere = await gavePassword(rig, person)
  const browser = await gavePassword(rig, person)
  await browser.get('/second-factor')
  await browser.submit('/second-factor/authenticator', {})
  const page = await browser.get('/second-factor/authenticator')
  const secret = (/<code class="key">([A-Z2-7 ]+)</.exec(page.body)?.[1] ?? '').replaceAll(' ', '')
  await browser.submit('/second-factor/authenticator/confirm', { code: await codeOf(rig, secret) })
  expect((await elsewhere.get('/')).headers.location).toBe('/sign-in')
  const half = await gavePassword(rig, person)
  await browser.get('/second-factor')
  await browser.submit('/second-factor/authenticator/remove', {})
  expect((await half.get(SECOND)).headers.location).toBe('/sign-in')
  expect((await gavePassword(rig, person)).cookies.has('__Host-sid')).toBe(true)
  expect((await browser.get('/second-factor')).body).not.toContain('Recovery codes')
  const mails = (await mailsOf(rig)).filter(({ to }) => to === person.email)
  expect(mails.map(({ subject }) => subject)).toEqual(Array(2).fill('Your second factor for Millrace was changed'))
  expect(mails[0]?.text).toContain('An authenticator app was set up')
  expect(mails[0]?.text).not.toContain(secret)
  expect(mails[1]?.text).toContain('was removed just now')
  const notices = await rig.sql(
    `select o.type, o.environment::text from outbox o join users u on u.id = o.object_id and u.id = o.actor_id
     where u.username = $1 order by o.seq`,
    [person.email],
  )
  expect(notices.map(row => `${row['type']} ${row['environment']}`).toSorted()).toEqual([
    'USER.AUTHENTICATOR_ADDED LIVE',
    'USER.AUTHENTICATOR_ADDED TEST',
    'USER.AUTHENTICATOR_REMOVED LIVE',
    'USER.AUTHENTICATOR_REMOVED TEST',
  ])
})

test('a user who was switched off does not get in by the second step', async () => {
  const person = await newTwoStepPerson(rig)
  const browser = await gavePassword(rig, person)
  await browser.get(SECOND)
  await rig.sql(`update users set status = 'INACTIVE' where username = $1`, [person.email])
  const answer = await browser.submit(SECOND, { code: await codeOf(rig, person.secret) })
  expect(answer.headers.location).toBe('/sign-in')
})

test.each([
  ['nothing', {}],
  ['too many digits', { code: '1234567' }],
  ['digits of another script', { code: '１２３４５６' }],
  ['a passkey that is no JSON', { passkey: 'null' }],
  ['a passkey that is something else', { passkey: '{"id":[],"response":{"__proto__":1}}' }],
])('%s for a second factor is wrong, and nothing worse', async (_name, fields: Record<string, string>) => {
  const browser = await gavePassword(rig, await newTwoStepPerson(rig))
  await browser.get(SECOND)
  const answer = await browser.submit(SECOND, fields)
  expect(answer.statusCode).toBe(401)
  expect(answer.body).toContain('role="alert"')
})

test('a short password is not what stays when the last factor goes: a longer one is asked for first', async () => {
  const person = await newTwoStepPerson(rig)
  const { browser } = person
  const change = async (password: string, chosen: string) => {
    await browser.get('/password')
    const fields = { password, new_password: chosen, repeated: chosen }
    expect((await browser.submit('/password', fields)).headers.location).toBe('/password?done=1')
  }
  const remove = async () => {
    await browser.get('/second-factor')
    return await browser.submit('/second-factor/authenticator/remove', {})
  }
  const short = 'kqv7!zmwp'
  await change(person.password, short)
  const refused = await remove()
  expect(refused.statusCode).toBe(400)
  expect(refused.body).toContain('at least 15 characters')
  expect((await browser.get('/second-factor')).body).toContain('Remove the authenticator app')
  await change(short, 'a rather long password of words')
  expect((await remove()).headers.location).toBe('/second-factor')
  expect((await browser.get('/second-factor')).body).toContain('Your password alone opens your account')
})
