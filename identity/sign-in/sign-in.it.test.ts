// Signing in and out: who gets a session, what the answers give away, and how long a session lives.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../testing/browser.ts'
import { type IdentityRig, startIdentity } from '../testing/identity-rig.ts'

let rig: IdentityRig
beforeAll(async () => {
  rig = await startIdentity()
})
afterAll(() => rig?.close())

async function signedIn() {
  const browser = openBrowser(rig.app)
  await browser.get('/sign-in')
  const answer = await browser.submit('/sign-in', rig.user)
  expect(answer.statusCode).toBe(303)
  return browser
}

test('the right password starts a session, in a cookie no script and no other site can read', async () => {
  const browser = openBrowser(rig.app)
  await browser.get('/sign-in')
  const answer = await browser.submit('/sign-in', {
    email: ` ${rig.user.email.toUpperCase()} `,
    password: rig.user.password,
  })
  expect(answer).toMatchObject({ statusCode: 303, headers: { location: '/' } })
  const cookie = answer.cookies.find(({ name }) => name === '__Host-sid')
  expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', path: '/' })
  expect((await browser.get('/')).body).toContain(rig.user.email)
  const [stored] = await rig.sql('select * from sessions order by created_at desc limit 1')
  expect(JSON.stringify(stored)).not.toContain(cookie?.value)
})

test('the page after signing in leads to the console, the documentation and the keys', async () => {
  const { body } = await (await signedIn()).get('/')
  const links = [...body.matchAll(/href="https?:\/\/[^"/]+(\/[^"]*)"/g)].map(([, path]) => path)
  expect(links).toEqual(['/console', '/docs', '/v1/docs', '/v1/docs/api-keys'])
})

test('a wrong password and an unknown user get the same answer', async () => {
  const bodies = []
  for (const fields of [
    { ...rig.user, password: 'wrong' },
    { email: rig.user.email, password: rig.user.password.slice(1) },
  ]) {
    const browser = openBrowser(rig.app)
    await browser.get('/sign-in')
    const answer = await browser.submit('/sign-in', fields)
    bodies.push([answer.statusCode, answer.body.replace(/name="csrf" value="[^"]*"/, '')])
  }
  const browser = openBrowser(rig.app)
  await browser.get('/sign-in')
  const unknown = await browser.submit('/sign-in', { email: 'nobody@example.com', password: 'wrong' })
  const body = unknown.body.replace(/name="csrf" value="[^"]*"/, '').replaceAll('nobody@example.com', rig.user.email)
  expect(bodies).toEqual([
    [401, body],
    [401, body],
  ])
})

test.each([
  ['from another site', { 'sec-fetch-site': 'cross-site' }],
  ['without saying from where', {}],
])('a form sent %s is refused', async (_name, headers) => {
  const browser = openBrowser(rig.app)
  const page = await browser.get('/sign-in')
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
  const answer = await rig.app.inject({
    method: 'POST',
    url: '/sign-in',
    headers: {
      ...headers,
      cookie: [...browser.cookies].map(pair => pair.join('=')).join('; '),
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: new URLSearchParams({ ...rig.user, csrf }).toString(),
  })
  expect(answer.statusCode).toBe(403)
})

test("another browser's form token is refused", async () => {
  const [mine, theirs] = [openBrowser(rig.app), openBrowser(rig.app)]
  const page = await theirs.get('/sign-in')
  await mine.get('/sign-in')
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
  expect((await mine.submit('/sign-in', { ...rig.user, csrf })).statusCode).toBe(403)
})

test('signing out ends the session, not only the cookie', async () => {
  const browser = await signedIn()
  const stolen = browser.cookies.get('__Host-sid') ?? ''
  await browser.get('/')
  await browser.submit('/sign-out', {})
  expect(browser.cookies.has('__Host-sid')).toBe(false)
  const thief = openBrowser(rig.app)
  thief.cookies.set('__Host-sid', stolen)
  expect((await thief.get('/')).statusCode).toBe(303)
})

test('a session ends after 8 hours without use, after 7 days in any case, and with its user', async () => {
  const idle = await signedIn()
  const busy = await signedIn()
  await rig.advance(7 * 3600)
  expect((await busy.get('/')).statusCode).toBe(200)
  await rig.advance(3 * 3600)
  expect((await idle.get('/')).statusCode).toBe(303)
  for (let hours = 10; hours < 7 * 24 - 8; hours += 7) {
    expect((await busy.get('/')).statusCode).toBe(200)
    await rig.advance(7 * 3600)
  }
  await rig.advance(14 * 3600)
  expect((await busy.get('/')).statusCode).toBe(303)
  const removed = await signedIn()
  await rig.sql(`update users set status = 'INACTIVE'`)
  expect((await removed.get('/')).statusCode).toBe(303)
  await rig.sql(`update users set status = 'ACTIVE'`)
})

test('pages may not be framed, cached or given a script from elsewhere', async () => {
  const { headers } = await openBrowser(rig.app).get('/sign-in')
  expect(headers).toMatchObject({
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  })
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(headers['content-security-policy']).toContain("default-src 'none'")
})

test('a refusal is a page for a person and the body of the interface for a program, and says the same', async () => {
  const ask = (accept: string) =>
    rig.app.inject({ method: 'POST', url: '/sign-out', headers: { accept, 'sec-fetch-site': 'cross-site' } })
  const [person, program] = [await ask('text/html,*/*;q=0.8'), await ask('*/*')]
  expect([person.statusCode, program.statusCode]).toEqual([403, 403])
  expect(person.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(person.body).toContain(program.json().message)
  expect(program.json()).toMatchObject({ code: 'USER_NOT_ALLOWED' })
  const lost = await rig.app.inject({ url: '/<script>', headers: { accept: 'text/html' } })
  expect(lost.statusCode).toBe(404)
  expect(lost.body).not.toContain('<script>')
})
