// A hostile client, a hostile page and a hostile neighbour (security 1.2 and section 8, rows 1 to 11): stolen codes and tokens,
// forms from elsewhere, names that deceive, and what browsers of other origins may read.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createUser } from '../shared/access/create-platform.ts'
import { silentLogger } from '../shared/process/logger.ts'
import { createRateLimit, createRateLimits } from './http/rate-limits.ts'
import { runMaintenance } from './maintenance.ts'
import { openBrowser } from './testing/browser.ts'
import { type IdentityRig, startIdentity, TEST_IDENTITY_URL } from './testing/identity-rig.ts'
import {
  callToken,
  codeFields,
  consentPage,
  openConsent,
  postConsent,
  REDIRECT_URI,
  registerClient,
} from './testing/oauth-client.ts'

let rig: IdentityRig
const many = createRateLimit(1_000_000, 60)
const limits = { ...createRateLimits(), register: many, authorize: many, token: many, tokenRefused: many }
beforeAll(async () => {
  rig = await startIdentity({ limits })
})
afterAll(() => rig?.close())

const choice = () => `${rig.platforms[0].id}:LIVE`
const paramsOf = (location: unknown) => new URL(String(location)).searchParams

test('a stolen code is worth nothing without the verifier, and its owner can still use it', async () => {
  const [client, thief] = [await registerClient(rig), await registerClient(rig)]
  const code = await client.code([choice()])
  const attempts = [
    await callToken(rig, client, codeFields(thief, code)), // the client's id is no secret: its verifier is
    await callToken(rig, thief, codeFields(thief, code)),
    await callToken(rig, thief, { ...codeFields(client, code), redirect_uri: 'http://127.0.0.1:1/callback' }),
  ]
  expect(attempts.map(answer => answer.json().error)).toEqual(['invalid_grant', 'invalid_grant', 'invalid_grant'])
  const { refresh_token } = (await client.redeem(code)).json()
  // Nor can whoever saw it pass end the grant by showing it again.
  expect((await callToken(rig, client, codeFields(thief, code))).json().error).toBe('invalid_grant')
  expect((await client.refresh(refresh_token)).statusCode).toBe(200)
})

test('a stolen refresh token that the thief uses first: the owner’s next call ends both, and the trail says so', async () => {
  const [client, other] = [await registerClient(rig), await registerClient(rig)]
  const { refresh_token: stolen } = (await client.redeem(await client.code([choice()]))).json()
  expect((await other.refresh(stolen)).json().error).toBe('invalid_grant') // not under another client's name
  const thief = (await callToken(rig, client, { grant_type: 'refresh_token', refresh_token: stolen })).json()
  const deeper = (
    await callToken(rig, client, { grant_type: 'refresh_token', refresh_token: thief.refresh_token })
  ).json()
  expect((await client.refresh(stolen)).json().error).toBe('invalid_grant')
  expect((await client.refresh(deeper.refresh_token)).json().error).toBe('invalid_grant')
  const notices = await rig.sql(
    `select data->>'revoke_reason' as reason from outbox where type = 'OAUTH_GRANT.REVOKED' and data->>'client_id' = $1`,
    [client.clientId],
  )
  expect(notices).toEqual([{ reason: 'REFRESH_TOKEN_REUSED' }])
})

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['a sibling of ours', { 'sec-fetch-site': 'same-site' }],
  ['the address bar', { 'sec-fetch-site': 'none' }],
  ['another origin, in a browser without fetch metadata', { origin: 'https://evil.example' }],
  ['a sandboxed frame', { origin: 'null' }],
  ['nowhere that is said', {}],
])('an approval sent from %s is the one 403, though token, cookies and session are right', async (_name, headers) => {
  const client = await registerClient(rig)
  const { browser, form } = await openConsent(rig, client)
  const approval = { ...form, decision: 'approve', platforms: choice() }
  const refused = await postConsent(rig, browser, approval, headers)
  const unknown = await browser.get('/consent?request=areq_0123456789012345678901')
  expect([refused.statusCode, refused.body]).toEqual([403, unknown.body])
  // A browser without fetch metadata says its origin: that the request is still open shows that nothing happened before.
  const taken = await postConsent(rig, browser, approval, { origin: TEST_IDENTITY_URL })
  expect(taken.statusCode).toBe(303)
})

test('a form token of another browser, and a list of platforms with one foreign among them, are the one 403', async () => {
  const client = await registerClient(rig)
  const [mine, theirs] = [await openConsent(rig, client), await openConsent(rig, await registerClient(rig))]
  const approval = { ...mine.form, decision: 'approve', platforms: choice() }
  const wrongToken = await postConsent(rig, mine.browser, { ...approval, csrf: theirs.form['csrf'] ?? '' })
  const foreign = await mine.browser.submit(
    '/consent',
    { decision: 'approve' },
    { platforms: [choice(), `${rig.platforms[1].id}:LIVE`] },
  )
  expect([wrongToken.statusCode, foreign.statusCode]).toEqual([403, 403])
  expect(wrongToken.body).toBe(foreign.body)
})

test('a name is text, a known name gets a caution and our own logo, and one that looks like it a warning and none', async () => {
  const pageFor = async (name: string) => {
    const client = await registerClient(rig, {
      client_name: name,
      redirect_uris: [REDIRECT_URI],
      logo_uri: 'https://evil.example/logo.png',
    })
    const browser = openBrowser(rig.app)
    return await consentPage(rig, browser, await client.authorize(browser))
  }
  const hostile = await pageFor('<img src=x onerror=alert(1)>"\'&')
  expect(hostile.body).toContain('&lt;img src=x onerror=alert(1)&gt;')
  expect(hostile.body).not.toContain('<img')
  const known = await pageFor(' CLAUDE ')
  expect(known.body).toContain('<img src="/assets/clients/C.svg"')
  expect(known.body).toContain('Anyone can choose that name')
  const lookalike = await pageFor('Cl\u0430ude')
  expect(lookalike.body).toContain('is written to look like Claude')
  const contains = await pageFor('Claude Desktop')
  expect(contains.body).toContain('This name contains Claude')
  for (const page of [hostile, lookalike, contains]) expect(page.body).not.toContain('/assets/clients/')
  for (const page of [hostile, known, lookalike]) {
    expect(page.body).not.toContain('evil.example')
    expect(page.body).toContain('runs on this computer')
    expect(page.headers['x-frame-options']).toBe('DENY')
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(page.headers['cross-origin-opener-policy']).toBe('same-origin')
  }
})

test('a browser has ten requests open at most: the eleventh takes the oldest back', async () => {
  const client = await registerClient(rig)
  const browser = openBrowser(rig.app)
  const paths: string[] = []
  for (let each = 0; each < 11; each += 1) paths.push(String((await client.authorize(browser)).headers.location))
  expect([...browser.cookies.keys()].filter(name => name.startsWith('__Host-ar-'))).toHaveLength(10)
  const [first = '', second = ''] = paths
  expect((await browser.get(first)).statusCode).toBe(403)
  expect((await browser.get(second)).statusCode).toBe(303)
})

test('signing in gives a new session and keeps the request of the browser; a planted session is of no use', async () => {
  const client = await registerClient(rig)
  const browser = openBrowser(rig.app)
  browser.cookies.set('__Host-sid', 'planted-planted-planted-planted-planted-pla')
  const page = await consentPage(rig, browser, await client.authorize(browser))
  expect(page.statusCode).toBe(200)
  expect(browser.cookies.get('__Host-sid')).not.toContain('planted')
  expect([...browser.cookies.keys()].filter(name => name.startsWith('__Host-ar-'))).toHaveLength(1)
})

test('the answer keeps the address the client registered, and each parameter of ours is there once', async () => {
  const redirect_uri = 'https://app.example/cb?tenant=a%20b&tenant=c'
  const client = await registerClient(rig, { redirect_uris: [redirect_uri] })
  const browser = openBrowser(rig.app)
  const state = 'ä &=#/?+ "<\u2028'
  await consentPage(rig, browser, await client.authorize(browser, { redirect_uri, state, response_mode: 'fragment' }))
  const { headers } = await browser.submit('/consent', { decision: 'approve' }, { platforms: [choice()] })
  const answer = new URL(String(headers.location))
  expect(answer.origin + answer.pathname + answer.hash).toBe('https://app.example/cb')
  const given = [...answer.searchParams.keys()]
  expect(given.toSorted()).toEqual(['code', 'iss', 'state', 'tenant', 'tenant'])
  expect([answer.searchParams.get('state'), answer.searchParams.get('iss')]).toEqual([state, TEST_IDENTITY_URL])
})

test.each([
  ['https://app.example:8443/cb', 'https://app.example:8443'],
  ['http://localhost:51764/callback', 'http://localhost:51764'],
  // Policies cannot name IPv6 addresses; outside-clients.it sends a real browser there.
  ['http://[::1]:51764/callback', 'http:'],
])('the form of a request for %s may lead to %s and our own pages alone', async (redirect_uri, source) => {
  const client = await registerClient(rig, { redirect_uris: [redirect_uri] })
  const browser = openBrowser(rig.app)
  const { headers } = await consentPage(rig, browser, await client.authorize(browser, { redirect_uri }))
  expect(headers['content-security-policy']).toContain(`form-action 'self' ${source};`)
})

test('a code dies with its user’s membership, and a used one of theirs gives nobody anything', async () => {
  const user = await createUser(rig.databaseUrl, 'leaver@example.com', [rig.platforms[0].id])
  const client = await registerClient(rig)
  const browser = openBrowser(rig.app)
  await consentPage(rig, browser, await client.authorize(browser), user)
  const redirect = await browser.submit('/consent', { decision: 'approve' }, { platforms: [choice()] })
  await rig.sql(`delete from user_memberships where user_id = (select id from users where username = $1)`, [user.email])
  const answer = await client.redeem(paramsOf(redirect.headers.location).get('code') ?? '')
  expect(answer.json().error).toBe('invalid_grant')
})

test('every origin may read what is for clients, without cookies, and no origin the pages', async () => {
  const origin = { origin: 'https://app.example' }
  const open = [
    ['GET', '/.well-known/oauth-authorization-server'],
    ['GET', '/.well-known/jwks.json'],
    ['POST', '/v1/oauth2/register'],
    ['POST', '/v1/oauth2/token'],
    ['POST', '/v1/oauth2/revoke'],
  ] as const
  for (const [method, url] of open) {
    const ask = { ...origin, 'access-control-request-method': method, 'access-control-request-headers': 'content-type' }
    const preflight = await rig.app.inject({ method: 'OPTIONS', url, headers: ask })
    expect([preflight.statusCode, preflight.headers['access-control-allow-methods']]).toEqual([
      204,
      `${method}, OPTIONS`,
    ])
    // A refusal can be read as well: a client must learn why.
    const answer = await rig.app.inject({ method, url, headers: origin })
    expect(answer.headers['access-control-allow-origin'], url).toBe('*')
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
    expect(answer.statusCode < 300 || answer.statusCode >= 400, url).toBe(true)
  }
  for (const url of ['/v1/oauth2/authorize', '/consent', '/sign-in', '/', '/connected-apps']) {
    const answer = await rig.app.inject({ url, headers: origin })
    expect(answer.headers['access-control-allow-origin'], url).toBeUndefined()
  }
  const keys = await rig.app.inject('/.well-known/jwks.json')
  expect(keys.headers['cache-control']).toBe('public, max-age=300')
})

test('an issuer with a path is found by its path too', async () => {
  const identityUrl = 'https://login.example/tenants/one'
  const app = await rig.anotherHost({ identityUrl })
  const answer = await app.inject('/.well-known/oauth-authorization-server/tenants/one')
  expect(answer.json().issuer).toBe(identityUrl)
  await app.close()
})

// The last: it moves the clock by months.
test('a client that never got anything is forgotten after thirty days, and told to register again', async () => {
  const [unused, used] = [await registerClient(rig), await registerClient(rig)]
  const { refresh_token } = (await used.redeem(await used.code([choice()]))).json()
  await rig.advance(29 * 86_400)
  await runMaintenance(rig.database, rig.keystore)
  expect((await unused.redeem('x')).json().error).toBe('invalid_grant')
  expect((await used.refresh(refresh_token)).statusCode).toBe(200)
  await rig.advance(2 * 86_400)
  await runMaintenance(rig.database, rig.keystore)
  const forgotten = await unused.redeem('x')
  expect([forgotten.statusCode, forgotten.json().error]).toEqual([401, 'invalid_client'])
  expect((await used.redeem('x')).json().error).toBe('invalid_grant')
})

test('a NUL or half a character, and lists in each other, are refused wherever they stand, and no one is called for it', async () => {
  const errors: unknown[] = []
  const logger = Object.assign(Object.create(silentLogger), {
    error: (...line: unknown[]) => errors.push(line),
    child: () => logger,
  })
  const host = await rig.anotherHost({ logger })
  const form = { 'content-type': 'application/x-www-form-urlencoded', origin: TEST_IDENTITY_URL }
  const json = { 'content-type': 'application/json', origin: TEST_IDENTITY_URL }
  const deep = '['.repeat(5_000) + ']'.repeat(5_000)
  const texts = ['%00', 'a%00b', '%ED%A0%80']
  const fields =
    'grant_type client_id code token refresh_token redirect_uri code_verifier state email password csrf request decision'
  const posts =
    '/v1/oauth2/token /v1/oauth2/revoke /v1/oauth2/register /sign-in /consent /forgot-password /sign-out /v1/oauth/logout'
  const bodies = [...posts.split(' '), '/v1/oauth/request-password-reset'].flatMap(url => [
    ...texts.map(text => ({ url, headers: form, payload: fields.replaceAll(/(\S+) ?/g, `$1=${text}&`) })),
    { url, headers: form, payload: `grant_type=authorization_code&client_id=a&code=%00` },
    { url, headers: json, payload: fields.replaceAll(/(\S+) ?/g, '"$1":"\\u0000",').replace(/^(.*),$/, '{$1}') },
    { url, headers: json, payload: `{"email":${deep},"client_name":${deep},"redirect_uris":${deep}}` },
  ])
  const gets =
    '/v1/oauth2/authorize?client_id= /consent?request= /sign-in?next= /password-set?token= /connected-apps? /'
  const asked = gets
    .split(' ')
    .flatMap(url => texts.map(text => ({ url: `${url}${text}`, headers: { cookie: `a=${text}` } })))
  const answers = [
    ...(await Promise.all(bodies.map(each => host.inject({ method: 'POST', ...each })))),
    ...(await Promise.all(asked.map(each => host.inject({ method: 'GET', ...each })))),
  ]
  expect(answers.filter(({ statusCode }) => statusCode >= 500).map(({ body }) => body)).toEqual([])
  expect(errors).toEqual([])
  const [token] = answers
  expect([token?.statusCode, token?.json().error]).toEqual([400, 'invalid_request'])
  await host.close()
})
