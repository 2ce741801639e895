// What a user let in is listed for them alone, and ends when they say so.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createUser } from '../../shared/access/create-platform.ts'
import { openBrowser } from '../testing/browser.ts'
import { type IdentityRig, startIdentity, TEST_IDENTITY_URL } from '../testing/identity-rig.ts'
import { mailsOf } from '../testing/mails.ts'
import { registerClient } from '../testing/oauth-client.ts'

let rig: IdentityRig
beforeAll(async () => {
  rig = await startIdentity()
})
afterAll(() => rig?.close())

async function signedIn(user: { email: string; password: string }) {
  const browser = openBrowser(rig.app)
  await browser.get('/sign-in')
  await browser.submit('/sign-in', user)
  return browser
}

test('a grant is listed once it is used, disconnected by its user alone, and its tokens end', async () => {
  const client = await registerClient(rig, {
    client_name: 'My agent',
    redirect_uris: ['http://127.0.0.1:33418/callback'],
  })
  const code = await client.code([`${rig.platforms[0].id}:LIVE`])
  const me = await signedIn(rig.user)
  expect((await me.get('/connected-apps')).body).not.toContain('My agent')
  const { refresh_token } = (await client.redeem(code)).json()
  const page = (await me.get('/connected-apps')).body
  for (const text of ['My agent', 'Platform A – LIVE', 'service:write']) expect(page).toContain(text)
  expect(page).toMatch(/last used \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
  const grant = /name="grant" value="([^"]*)"/.exec(page)?.[1] ?? ''
  const other = await createUser(rig.databaseUrl, 'eve@example.com', [rig.platforms[0].id])
  const eve = await signedIn(other)
  expect((await eve.get('/connected-apps')).body).not.toContain('My agent')
  await eve.get('/')
  expect((await eve.submit('/connected-apps/disconnect', { grant })).statusCode).toBe(404)
  await me.get('/connected-apps')
  expect((await me.submit('/connected-apps/disconnect', { grant })).statusCode).toBe(303)
  expect((await me.get('/connected-apps')).body).not.toContain('My agent')
  expect((await client.refresh(refresh_token)).json().error).toBe('invalid_grant')
})

test('a stolen refresh token ends its grant, and the user is told once, by name of the application', async () => {
  const client = await registerClient(rig, {
    client_name: 'My agent',
    redirect_uris: ['http://127.0.0.1:33418/callback'],
  })
  const { refresh_token: stolen } = (await client.redeem(await client.code([`${rig.platforms[0].id}:LIVE`]))).json()
  const { refresh_token: successor } = (await client.refresh(stolen)).json()
  await rig.advance(61)
  for (const token of [stolen, stolen, successor]) {
    expect((await client.refresh(token)).json().error).toBe('invalid_grant')
  }
  const letters = await mailsOf(rig)
  expect(letters).toMatchObject([{ to: rig.user.email, subject: 'An application was disconnected from Millrace' }])
  expect(letters[0]?.text).toContain('“My agent”')
  expect(letters[0]?.text).toContain(`${TEST_IDENTITY_URL}/connected-apps`)
})

test('logging out everywhere ends every session of the user and nobody else’s', async () => {
  const other = await createUser(rig.databaseUrl, 'grace@example.com', [rig.platforms[0].id])
  const [here, there, grace] = [await signedIn(rig.user), await signedIn(rig.user), await signedIn(other)]
  await here.get('/')
  await here.submit('/sign-out-everywhere', {})
  expect((await there.get('/')).statusCode).toBe(303)
  expect((await here.get('/')).statusCode).toBe(303)
  expect((await grace.get('/')).statusCode).toBe(200)
})
