// Resetting a forgotten password: what the answers give away, what a link is good for, and what ends with the old password.
import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createUser } from '../../shared/access/create-platform.ts'
import { createRateLimits } from '../http/rate-limits.ts'
import { openBrowser } from '../testing/browser.ts'
import { type IdentityRig, startIdentity, TEST_IDENTITY_URL } from '../testing/identity-rig.ts'
import { invite, linkIn, mailsOf, tokenIn } from '../testing/mails.ts'
import { registerClient } from '../testing/oauth-client.ts'
import { UNLIMITED } from '../testing/oauth-rig.ts'

const NEW = 'a new and rather long password'
let rig: IdentityRig
let people = 0
beforeAll(async () => {
  rig = await startIdentity({ limits: { ...createRateLimits(), mailAsked: UNLIMITED, linkUsed: UNLIMITED } })
})
beforeEach(async () => {
  await mailsOf(rig)
})
afterAll(() => rig?.close())

const somebody = () => {
  people += 1
  return createUser(rig.databaseUrl, `person-${people}@example.com`, [rig.platforms[0].id])
}
async function asks(email: string): Promise<LightMyRequestResponse> {
  const browser = openBrowser(rig.app)
  await browser.get('/forgot-password')
  return await browser.submit('/forgot-password', { email })
}
async function linkFor(email: string): Promise<string> {
  await asks(email)
  const letter = (await mailsOf(rig)).find(({ to }) => to === email)
  return linkIn(letter, '/reset-password')
}
async function choose(link: string, password = NEW, repeated = password): Promise<LightMyRequestResponse> {
  const browser = openBrowser(rig.app)
  await browser.get(link)
  // A page that was open before the link ended still has its form.
  await browser.get('/forgot-password')
  return await browser.submit('/reset-password', { new_password: password, repeated, token: tokenIn(link) })
}
async function signIn(email: string, password: string) {
  const browser = openBrowser(rig.app)
  await browser.get('/sign-in')
  const { statusCode } = await browser.submit('/sign-in', { email, password })
  return { browser, statusCode }
}
const bytesOf = ({ statusCode, headers, body }: LightMyRequestResponse) => {
  const { date: _date, 'x-request-id': _id, ...rest } = headers
  return { statusCode, headers: rest, body }
}
const json = (path: string, payload: object) => rig.app.inject({ method: 'POST', url: path, payload })

test('from a mail to a new password: the old one, its sessions and other links end, and the user is told', async () => {
  const ada = await somebody()
  const { browser } = await signIn(ada.email, ada.password)
  const [first, second] = [await linkFor(ada.email), await linkFor(ada.email)]
  expect((await choose(first)).headers['location']).toBe('/password-set')
  expect((await browser.get('/')).statusCode).toBe(303)
  expect((await choose(second)).statusCode).toBe(404)
  expect((await signIn(ada.email, ada.password)).statusCode).toBe(401)
  expect((await signIn(ada.email, NEW)).statusCode).toBe(303)
  const [mail, ...others] = await mailsOf(rig)
  expect(others).toEqual([])
  expect(mail).toMatchObject({ to: ada.email, subject: 'Your password for Millrace was changed' })
})

test.each([
  ['the page', async (link: string) => (await choose(link)).statusCode],
  [
    'its JSON twin',
    async (link: string) =>
      (await json('/v1/oauth/reset-password', { token: tokenIn(link), new_password: NEW })).statusCode,
  ],
])('a reset through %s ends every application that was let in, and the mail says so', async (_name, reset) => {
  const ada = await somebody()
  const client = await registerClient(rig)
  const code = await client.code([`${rig.platforms[0].id}:LIVE`], {}, ada)
  const refreshToken = (await client.redeem(code)).json().refresh_token
  expect(refreshToken).toBeTypeOf('string')
  // A consent that was given and not yet redeemed ends as well.
  const waiting = await client.code([`${rig.platforms[0].id}:LIVE`], {}, ada)
  expect(await reset(await linkFor(ada.email))).toBeLessThan(400)
  expect((await client.refresh(refreshToken)).json().error).toBe('invalid_grant')
  expect((await client.redeem(waiting)).json().error).toBe('invalid_grant')
  const [mail] = await mailsOf(rig)
  expect(mail?.text).toContain('Every application you had connected was disconnected')
  expect(mail?.text).not.toContain('keep their access')
})

test('the answer is the same to the byte for an e-mail that is a user’s, nobody’s, or of somebody switched off', async () => {
  const [ada, off] = [await somebody(), await somebody()]
  await rig.sql(`update users set status = 'INACTIVE' where username = $1`, [off.email])
  const emails = [ada.email, off.email, 'nobody@example.com', 'not an e-mail', 'x'.repeat(900)]
  const answers = []
  for (const email of emails) answers.push(bytesOf(await asks(email)))
  for (const answer of answers) expect(answer).toEqual(answers[0])
  expect(answers[0]?.statusCode).toBe(200)
  const twins = []
  for (const email of emails) twins.push(bytesOf(await json('/v1/oauth/request-password-reset', { email })))
  for (const twin of twins) expect(twin).toEqual(twins[0])
  expect(twins[0]).toMatchObject({ statusCode: 200, body: '{}' })
  expect((await mailsOf(rig)).map(({ to }) => to)).toEqual([ada.email, ada.email])
  expect((await asks('a\u0000b')).statusCode).toBe(400)
})

test('asking looks at no user, so that time tells nothing either', async () => {
  const ada = await somebody()
  await rig.sql('revoke all on users from millrace_identity')
  try {
    for (const email of [ada.email, 'nobody@example.com']) expect((await asks(email)).statusCode).toBe(200)
  } finally {
    await rig.sql('grant select, insert, update on users to millrace_identity')
  }
  expect((await mailsOf(rig)).map(({ to }) => to)).toEqual([ada.email])
})

test('three mails in a quarter of an hour for one e-mail, and the fourth wish is answered alike', async () => {
  const ada = await somebody()
  const answers = []
  for (let index = 0; index < 5; index += 1) answers.push(bytesOf(await asks(ada.email)))
  for (const answer of answers) expect(answer).toEqual(answers[0])
  expect(await mailsOf(rig)).toHaveLength(3)
  await rig.advance(901)
  await asks(ada.email)
  expect(await mailsOf(rig)).toHaveLength(1)
})

test('a link works for thirty minutes', async () => {
  const ada = await somebody()
  const link = await linkFor(ada.email)
  await rig.advance(1_799)
  expect((await openBrowser(rig.app).get(link)).statusCode).toBe(200)
  await rig.advance(2)
  expect((await openBrowser(rig.app).get(link)).statusCode).toBe(404)
  expect((await choose(link)).statusCode).toBe(404)
  expect((await signIn(ada.email, ada.password)).statusCode).toBe(303)
})

test('a link that is used, too old, of another kind, of somebody switched off, or made up: one page, to the byte', async () => {
  const [used, old, off] = [await somebody(), await somebody(), await somebody()]
  const usedLink = await linkFor(used.email)
  await choose(usedLink)
  const oldLink = await linkFor(old.email)
  await rig.advance(1_801)
  const offLink = await linkFor(off.email)
  await rig.sql(`update users set status = 'INACTIVE' where username = $1`, [off.email])
  await invite(rig, 'newcomer@example.com')
  const invitation = (await mailsOf(rig)).find(({ to }) => to === 'newcomer@example.com')
  const foreign = `/reset-password?token=${tokenIn(linkIn(invitation, '/activate'))}`
  const links = [
    usedLink,
    oldLink,
    offLink,
    foreign,
    `/reset-password?token=${'A'.repeat(43)}`,
    '/reset-password?token=x',
  ]
  // The link of an invitation whose user has an account by now is still not one to a new password.
  await invite(rig, 'member@example.com')
  const late = (await mailsOf(rig)).find(({ to }) => to === 'member@example.com')
  await rig.sql(`update users set status = 'ACTIVE', password_hash = 'x' where username = 'member@example.com'`)
  links.push(`/reset-password?token=${tokenIn(linkIn(late, '/activate'))}`)
  links.push('/reset-password', '/reset-password?token=a&token=b')
  const pages = []
  for (const link of links) pages.push(bytesOf(await openBrowser(rig.app).get(link)))
  for (const page of pages) expect(page).toEqual(pages[0])
  const posts = []
  for (const link of links.slice(0, 7)) {
    const browser = openBrowser(rig.app)
    await browser.get('/forgot-password')
    const token = tokenIn(link)
    posts.push(bytesOf(await browser.submit('/reset-password', { new_password: NEW, repeated: NEW, token })))
  }
  for (const post of posts) expect(post).toEqual(pages[0])
  const twins = []
  for (const link of links.slice(0, 7))
    twins.push(bytesOf(await json('/v1/oauth/reset-password', { token: tokenIn(link), new_password: NEW })))
  for (const twin of twins) expect(twin).toEqual(twins[0])
  expect(JSON.parse(twins[0]?.body ?? '')).toMatchObject({ code: 'INVALID_FIELD', field: 'token' })
  expect((await openBrowser(rig.app).get(linkIn(invitation, '/activate'))).statusCode).toBe(200)
})

test('of twenty uses of one link at once, one sets the password', async () => {
  const ada = await somebody()
  const token = tokenIn(await linkFor(ada.email))
  const passwords = Array.from({ length: 20 }, (_, index) => `the password of attempt ${index}`)
  const answers = await Promise.all(
    passwords.map(password => json('/v1/oauth/reset-password', { token, new_password: password })),
  )
  const won = passwords.filter((_, index) => answers[index]?.statusCode === 200)
  expect(won).toHaveLength(1)
  expect((await signIn(ada.email, won[0] ?? '')).statusCode).toBe(303)
  expect((await mailsOf(rig)).filter(({ to }) => to === ada.email)).toHaveLength(1)
})

test('looking at a link does not use it up, and a password that is refused does not either', async () => {
  const ada = await somebody()
  const link = await linkFor(ada.email)
  for (let index = 0; index < 3; index += 1) expect((await openBrowser(rig.app).get(link)).statusCode).toBe(200)
  const short = await choose(link, 'short')
  expect(short.statusCode).toBe(400)
  expect(short.body).toContain('Use at least 15 characters')
  expect((await choose(link, ada.email)).body).toContain('easy to guess')
  expect((await choose(link, NEW, `${NEW}?`)).body).toContain('The two are not the same.')
  const twin = await json('/v1/oauth/reset-password', { token: tokenIn(link), new_password: 'short' })
  expect(twin.json()).toMatchObject({ code: 'INVALID_FIELD', field: 'new_password' })
  expect((await choose(link)).statusCode).toBe(303)
})

test('links lead to the configured address, whatever the request says it came to', async () => {
  const ada = await somebody()
  const headers = {
    host: 'evil.example.com',
    'x-forwarded-host': 'evil.example.com',
    forwarded: 'host=evil.example.com',
  }
  const payload = { email: ada.email }
  await rig.app.inject({ method: 'POST', url: '/v1/oauth/request-password-reset', headers, payload })
  const [letter] = await mailsOf(rig)
  expect(letter?.text).toContain(`${TEST_IDENTITY_URL}/reset-password?token=`)
  expect(letter?.text).not.toContain('evil')
})

test('the page tells nobody else of its link, and the form is taken from our own page alone', async () => {
  const ada = await somebody()
  const link = await linkFor(ada.email)
  const { headers } = await openBrowser(rig.app).get(link)
  expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
  const payload = new URLSearchParams({ token: tokenIn(link), new_password: NEW, repeated: NEW }).toString()
  for (const site of ['cross-site', 'same-origin']) {
    const answer = await rig.app.inject({
      method: 'POST',
      url: '/reset-password',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': site },
      payload,
    })
    expect(answer.statusCode).toBe(403)
  }
  expect((await choose(link)).statusCode).toBe(303)
})

test('whoever guessed at the old password does not make its user wait with the new one', async () => {
  const ada = await somebody()
  for (let index = 0; index < 6; index += 1) await signIn(ada.email, 'wrong')
  expect((await signIn(ada.email, ada.password)).statusCode).toBe(429)
  await choose(await linkFor(ada.email))
  expect((await signIn(ada.email, NEW)).statusCode).toBe(303)
})

test.each([
  ['nothing', {}, 'MISSING_FIELD', 'token'],
  ['no password', { token: 'x' }, 'MISSING_FIELD', 'new_password'],
  ['a number', { token: 5, new_password: NEW }, 'INVALID_FIELD', 'token'],
  ['a very long text', { token: 'x'.repeat(2_000), new_password: NEW }, 'INVALID_FIELD', 'token'],
])('a body with %s is refused with the field that is wrong', async (_name, body, code, field) => {
  const answer = await json('/v1/oauth/reset-password', body)
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({ type: 'INVALID_REQUEST', code, field })
})

test('neither links nor passwords are in the database in clear', async () => {
  const ada = await somebody()
  const token = tokenIn(await linkFor(ada.email))
  await json('/v1/oauth/reset-password', { token, new_password: NEW })
  const dump = JSON.stringify([
    await rig.sql('select * from one_time_links'),
    await rig.sql('select * from identity_mails'),
    await rig.sql('select * from users'),
  ])
  expect(dump).not.toContain(token)
  expect(dump).not.toContain(NEW)
})

test('an address may ask for twenty mails an hour and use fifty links a quarter of an hour', async () => {
  const limited = await startIdentity()
  try {
    const count = async (times: number, url: string, payload: (index: number) => object) => {
      const statuses = []
      for (let index = 0; index < times; index += 1)
        statuses.push((await limited.app.inject({ method: 'POST', url, payload: payload(index) })).statusCode)
      return statuses.indexOf(429)
    }
    const token = 'A'.repeat(43)
    expect(await count(21, '/v1/oauth/request-password-reset', index => ({ email: `a${index}@example.com` }))).toBe(20)
    expect(await count(51, '/v1/oauth/reset-password', () => ({ token, new_password: NEW }))).toBe(50)
    const browser = openBrowser(limited.app)
    await browser.get('/forgot-password')
    const refused = await browser.submit('/forgot-password', { email: 'a@example.com' })
    expect(refused.statusCode).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  } finally {
    await limited.close()
  }
})
