// From an invitation to a member: a new person behind the link in the mail, one with an account when signed in.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectPayloads } from '../../api/testing/event-payloads.ts'
import { createUser } from '../../shared/access/create-platform.ts'
import { membershipsOf } from '../../shared/access/memberships.ts'
import { asSystem } from '../../shared/database/database.ts'
import { openBrowser } from '../testing/browser.ts'
import { type IdentityRig, startIdentity, TEST_IDENTITY_URL } from '../testing/identity-rig.ts'
import { invite, linkIn, mailsOf, tokenIn } from '../testing/mails.ts'

const PASSWORD = 'a long password of a newcomer'
let rig: IdentityRig
let people = 0
let email: string
beforeAll(async () => {
  rig = await startIdentity()
})
beforeEach(async () => {
  people += 1
  email = `newcomer-${people}@example.com`
  await mailsOf(rig)
})
afterAll(() => rig?.close())

const activationLink = async () =>
  linkIn(
    (await mailsOf(rig)).find(({ to }) => to === email),
    '/activate',
  )
async function activate(link: string, password = PASSWORD) {
  const browser = openBrowser(rig.app)
  await browser.get(link)
  await browser.get('/forgot-password')
  return await browser.submit('/activate', { new_password: password, repeated: password, token: tokenIn(link) })
}
async function signIn(password = PASSWORD, who = email) {
  const browser = openBrowser(rig.app)
  await browser.get('/sign-in')
  const { statusCode } = await browser.submit('/sign-in', { email: who, password })
  return { browser, statusCode }
}
const userId = async (who = email) =>
  String((await rig.sql('select id from users where username = $1', [who]))[0]?.['id'])
const reach = async (who = email) => {
  const id = await userId(who)
  const memberships = await asSystem(rig.database, 'identity', tx => membershipsOf(tx, id))
  return memberships.map(({ platformName, environment }) => `${platformName} ${environment}`)
}

test('a new person gets one mail, chooses a password behind its link, and is a member from then on', async () => {
  await invite(rig, email, { invitedBy: await userId(rig.user.email) })
  const [letter, ...others] = await mailsOf(rig)
  expect(others).toEqual([])
  expect(letter).toMatchObject({ to: email, subject: 'Your invitation to Millrace' })
  expect(letter?.text).toContain(`${rig.user.email} invited you to “Platform A” (LIVE)`)
  expect(await mailsOf(rig)).toEqual([])
  const link = linkIn(letter, '/activate')
  expect((await openBrowser(rig.app).get(link)).body).toContain(email)
  expect((await signIn()).statusCode).toBe(401)
  expect(await reach()).toEqual([])
  expect((await activate(link)).headers['location']).toBe('/password-set')
  expect(await reach()).toEqual(['Platform A LIVE'])
  const { browser, statusCode } = await signIn()
  expect(statusCode).toBe(303)
  expect((await browser.get('/')).body).not.toContain('You are invited')
  expect((await activate(link)).statusCode).toBe(404)
})

test('the acceptance is told to the tenant, with who accepted', async () => {
  const invitation = await invite(rig, email)
  await activate(await activationLink())
  const notices = await rig.sql('select * from outbox where object_id = $1', [invitation])
  expect(notices).toMatchObject([
    {
      type: 'USER_INVITATION.ACCEPTED',
      platform_id: rig.platforms[0].id,
      environment: 'LIVE',
      actor_id: await userId(),
    },
  ])
  await expectPayloads(rig, invitation, ['USER_INVITATION.ACCEPTED'])
})

test('a link of an invitation that was withdrawn works no more, before its mail or after it', async () => {
  const early = await invite(rig, email)
  await rig.sql('update user_invitations set revoked_at = now() where id = $1', [early])
  expect(await mailsOf(rig)).toEqual([])
  const late = await invite(rig, email)
  const link = await activationLink()
  expect((await openBrowser(rig.app).get(link)).statusCode).toBe(200)
  await rig.sql('update user_invitations set revoked_at = now() where id = $1', [late])
  expect((await openBrowser(rig.app).get(link)).statusCode).toBe(404)
  expect((await activate(link)).statusCode).toBe(404)
  expect((await rig.sql('select status from users where username = $1', [email]))[0]).toEqual({ status: 'INVITED' })
})

test('a link works for a week; whoever comes too late asks for another, as for a forgotten password', async () => {
  await invite(rig, email)
  const link = await activationLink()
  await rig.advance(7 * 86_400 - 1)
  expect((await openBrowser(rig.app).get(link)).statusCode).toBe(200)
  await rig.advance(2)
  const late = await openBrowser(rig.app).get(link)
  expect(late.statusCode).toBe(404)
  expect(late.body).toContain('href="/forgot-password"')
  const browser = openBrowser(rig.app)
  await browser.get('/forgot-password')
  await browser.submit('/forgot-password', { email })
  expect((await activate(await activationLink())).statusCode).toBe(303)
  expect(await reach()).toEqual(['Platform A LIVE'])
})

test('of twenty uses of one link at once, one makes the account', async () => {
  await invite(rig, email)
  const token = tokenIn(await activationLink())
  const passwords = Array.from({ length: 20 }, (_, index) => `the password of attempt ${index}`)
  const answers = await Promise.all(
    passwords.map(password =>
      rig.app.inject({ method: 'POST', url: '/v1/oauth/activate-user', payload: { token, new_password: password } }),
    ),
  )
  const won = answers.filter(({ statusCode }) => statusCode === 200)
  expect(won).toHaveLength(1)
  expect(won[0]?.json()).toEqual({
    object_type: 'USER',
    id: await userId(),
    username: email,
    status: 'ACTIVE',
    active: true,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  })
  const lucky = passwords[answers.findIndex(({ statusCode }) => statusCode === 200)]
  expect((await signIn(lucky)).statusCode).toBe(303)
})

test('a person with an account is told, and joins when signed in and only by accepting', async () => {
  const known = await createUser(rig.databaseUrl, email, [])
  const invitation = await invite(rig, email, { platformId: rig.platforms[1].id, environment: 'TEST' })
  const [letter] = await mailsOf(rig)
  expect(letter?.text).toContain(`${TEST_IDENTITY_URL}/\n`)
  expect(letter?.text).not.toContain('token=')
  const { browser } = await signIn(known.password)
  expect(await reach()).toEqual([])
  expect((await browser.get('/')).body).toContain('You are invited to <strong>Platform B</strong> (TEST).')
  const named = { invitation: `${rig.platforms[1].id}:TEST:${invitation}` }
  const { browser: stranger } = await signIn(rig.user.password, rig.user.email)
  await stranger.get('/')
  expect((await stranger.submit('/invitations/accept', named)).statusCode).toBe(404)
  await browser.get('/')
  expect((await browser.submit('/invitations/accept', {})).statusCode).toBe(303)
  expect(await reach()).toEqual(['Platform B TEST'])
  await browser.get('/password')
  expect((await browser.submit('/invitations/accept', named)).statusCode).toBe(404)
  await browser.get('/password')
  expect((await browser.submit('/invitations/accept', { invitation: 'nonsense' })).statusCode).toBe(404)
})

test('a link of one invitation accepts that one; the others wait for a yes of their own', async () => {
  await invite(rig, email)
  await invite(rig, email, { platformId: rig.platforms[1].id })
  const letters = await mailsOf(rig)
  expect(letters.map(({ to }) => to)).toEqual([email, email])
  const first = letters.find(({ text }) => text.includes('Platform A'))
  await activate(linkIn(first, '/activate'))
  expect(await reach()).toEqual(['Platform A LIVE'])
  const { browser } = await signIn()
  expect((await browser.get('/')).body).toContain('Platform B')
})

test('a user who is switched off, or invited nowhere, is sent nothing to activate', async () => {
  await invite(rig, email)
  await rig.sql(`update users set status = 'INACTIVE' where username = $1`, [email])
  await rig.sql(`insert into users (id, username, status) values ('user_lonely', 'lonely@example.com', 'INVITED')`)
  for (const payload of [{ email }, { email: 'lonely@example.com' }])
    await rig.app.inject({ method: 'POST', url: '/v1/oauth/request-password-reset', payload })
  expect(await mailsOf(rig)).toEqual([])
})
