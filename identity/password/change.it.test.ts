// Changing the password when signed in: not with the session alone, and everything else that was signed in ends.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createUser } from '../../shared/access/create-platform.ts'
import { type Browser, openBrowser } from '../testing/browser.ts'
import { type IdentityRig, startIdentity } from '../testing/identity-rig.ts'
import { mailsOf } from '../testing/mails.ts'
import { registerClient } from '../testing/oauth-client.ts'

const NEW = 'a new and rather long password'
let rig: IdentityRig
let ada: { email: string; password: string }
let people = 0
beforeAll(async () => {
  rig = await startIdentity()
})
beforeEach(async () => {
  people += 1
  ada = await createUser(rig.databaseUrl, `person-${people}@example.com`, [rig.platforms[0].id])
  await mailsOf(rig)
})
afterAll(() => rig?.close())

async function signedIn(password = ada.password): Promise<Browser> {
  const browser = openBrowser(rig.app)
  await browser.get('/sign-in')
  expect((await browser.submit('/sign-in', { email: ada.email, password })).statusCode).toBe(303)
  return browser
}
async function change(browser: Browser, fields: Record<string, string> = {}) {
  await browser.get('/password')
  return await browser.submit('/password', { password: ada.password, new_password: NEW, repeated: NEW, ...fields })
}

test('this browser goes on under a new session, every other session ends, and the user is told', async () => {
  const [here, there] = [await signedIn(), await signedIn()]
  const before = here.cookies.get('__Host-sid') ?? ''
  expect((await change(here)).headers['location']).toBe('/password?done=1')
  expect((await here.get('/password?done=1')).body).toContain('Your password is changed')
  expect(here.cookies.get('__Host-sid')).not.toBe(before)
  expect((await there.get('/')).statusCode).toBe(303)
  const thief = openBrowser(rig.app)
  thief.cookies.set('__Host-sid', before)
  expect((await thief.get('/')).statusCode).toBe(303)
  await signedIn(NEW)
  const mails = await mailsOf(rig)
  expect(mails.map(({ to, subject }) => [to, subject])).toEqual([[ada.email, 'Your password for Millrace was changed']])
})

test('a stolen session is not enough: the password is asked for, within the limits of signing in', async () => {
  const browser = await signedIn()
  const statuses = []
  for (let index = 0; index < 5; index += 1)
    statuses.push((await change(browser, { password: `guess ${index}` })).statusCode)
  expect(statuses).toEqual([400, 400, 400, 400, 429])
  await signedIn()
  expect(await mailsOf(rig)).toEqual([])
})

test.each([
  [{ new_password: 'short', repeated: 'short' }, 'Use at least 15 characters'],
  [{ repeated: `${NEW}?` }, 'The two new ones are not the same.'],
  [{ new_password: 'passwordpassword', repeated: 'passwordpassword' }, 'easy to guess'],
])('%j is refused with what to do', async (fields, words) => {
  const answer = await change(await signedIn(), fields)
  expect(answer.statusCode).toBe(400)
  expect(answer.body).toContain(words)
  await signedIn()
})

test('without a session there is nothing to change, and from elsewhere nobody changes it', async () => {
  expect((await openBrowser(rig.app).get('/password')).headers['location']).toBe('/sign-in')
  const browser = await signedIn()
  const answer = await rig.app.inject({
    method: 'POST',
    url: '/password',
    headers: {
      cookie: [...browser.cookies].map(pair => pair.join('=')).join('; '),
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'cross-site',
    },
    payload: new URLSearchParams({ password: ada.password, new_password: NEW, repeated: NEW }).toString(),
  })
  expect(answer.statusCode).toBe(403)
  await signedIn()
})

test('one password is one password, however its accents were composed', async () => {
  const composed = 'déjà vu sur la bicyclette'
  await change(await signedIn(), { new_password: composed, repeated: composed })
  await signedIn(composed.normalize('NFD'))
})

test('applications stay connected by a new password, and are ended with it when the user says so', async () => {
  const client = await registerClient(rig, {
    client_name: 'My agent',
    redirect_uris: ['http://127.0.0.1:33418/callback'],
  })
  const connect = async (password: string) => {
    const user = { email: ada.email, password }
    const code = await client.code([`${rig.platforms[0].id}:LIVE`], {}, user)
    return (await client.redeem(code)).json().refresh_token
  }
  const first = await connect(ada.password)
  const browser = await signedIn()
  expect((await browser.get('/password')).body).toContain('name="apps" value="all" checked')
  await change(browser)
  const second = (await client.refresh(first)).json().refresh_token
  expect(second).toBeTypeOf('string')
  const other = `${NEW} again`
  await change(browser, { password: NEW, new_password: other, repeated: other, apps: 'all' })
  expect((await client.refresh(second)).json().error).toBe('invalid_grant')
})

test('signing out everywhere offers to end the applications too', async () => {
  const client = await registerClient(rig, {
    client_name: 'My agent',
    redirect_uris: ['http://127.0.0.1:33418/callback'],
  })
  const tokens = async () =>
    (await client.redeem(await client.code([`${rig.platforms[0].id}:LIVE`], {}, ada))).json().refresh_token
  const signOut = async (fields: Record<string, string>) => {
    const browser = await signedIn()
    expect((await browser.get('/sign-out-everywhere')).body).toContain('My agent')
    await browser.submit('/sign-out-everywhere', fields)
    expect((await browser.get('/')).statusCode).toBe(303)
  }
  const kept = await tokens()
  await signOut({})
  const refreshed = await client.refresh(kept)
  expect(refreshed.statusCode).toBe(200)
  await signOut({ apps: 'all' })
  expect((await client.refresh(refreshed.json().refresh_token)).json().error).toBe('invalid_grant')
})

test('a script of our own pages signs out as the form does, and nobody else’s', async () => {
  const browser = await signedIn()
  const call = (headers: Record<string, string>) =>
    rig.app.inject({
      method: 'POST',
      url: '/v1/oauth/logout',
      headers: { cookie: [...browser.cookies].map(pair => pair.join('=')).join('; '), ...headers },
    })
  expect((await call({ 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403)
  expect((await call({})).statusCode).toBe(403)
  expect((await browser.get('/')).statusCode).toBe(200)
  const answer = await call({ 'sec-fetch-site': 'same-origin' })
  expect([answer.statusCode, answer.body]).toEqual([200, '{}'])
  expect((await browser.get('/')).statusCode).toBe(303)
})
