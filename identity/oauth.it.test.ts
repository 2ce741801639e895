// The authorization server as clients and browsers meet it, up to the first tokens (contract: Identity host; security 1.2 and section 8,
// rows 1 to 11). What becomes of codes and tokens: tokens.it.test.ts.
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPlatform, createUser } from '../shared/access/create-platform.ts'
import { openBrowser } from './testing/browser.ts'
import { type IdentityRig, TEST_BASE_URL, TEST_IDENTITY_URL } from './testing/identity-rig.ts'
import { consentPage, REDIRECT_URI, registerClient } from './testing/oauth-client.ts'
import { firstChoice, paramsOf, startOAuthIdentity } from './testing/oauth-rig.ts'

let rig: IdentityRig
beforeAll(async () => {
  rig = await startOAuthIdentity()
})
afterAll(() => rig?.close())

const choice = (environment = 'LIVE') => firstChoice(rig, environment)

test('the metadata names exactly what there is, and every origin may read it', async () => {
  const answer = await rig.app.inject('/.well-known/oauth-authorization-server')
  expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'access-control-allow-origin': '*' })
  expect(answer.json()).toMatchObject({
    issuer: TEST_IDENTITY_URL,
    token_endpoint_auth_methods_supported: ['none'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: ['service:read', 'service:write'],
  })
})

test('registration answers 201 with what really holds, ignores what it does not know, and never gives a secret', async () => {
  const answer = await rig.app.inject({
    method: 'POST',
    url: '/v1/oauth2/register',
    payload: {
      client_name: 'Agent',
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['implicit'],
      logo_uri: 'https://evil.example/logo.png',
      application_type: 'native',
      software_id: { any: 'thing' },
    },
  })
  expect(answer.statusCode).toBe(201)
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(answer.json()).toEqual({
    client_id: expect.stringMatching(/^clnt_/),
    client_id_issued_at: expect.any(Number),
    client_name: 'Agent',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  })
})

test.each([
  ['no redirect_uris', {}, 'invalid_redirect_uri'],
  ['http elsewhere', { redirect_uris: ['http://app.example/'] }, 'invalid_redirect_uri'],
  ['a name that is no text', { redirect_uris: [REDIRECT_URI], client_name: 7 }, 'invalid_client_metadata'],
  ['a name that turns round', { redirect_uris: [REDIRECT_URI], client_name: 'a\u202eb' }, 'invalid_client_metadata'],
  ['grant types that are no list', { redirect_uris: [REDIRECT_URI], grant_types: 'x' }, 'invalid_client_metadata'],
  ['a list', [], 'invalid_client_metadata'],
])('registration with %s is %s', async (_name, payload, error) => {
  const answer = await rig.app.inject({ method: 'POST', url: '/v1/oauth2/register', payload })
  expect([answer.statusCode, answer.json().error]).toEqual([400, error])
})

test('registration takes JSON alone, and little of it', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const url = '/v1/oauth2/register'
  expect((await rig.app.inject({ method: 'POST', url, headers: form, payload: 'a=b' })).statusCode).toBe(415)
  const json = { 'content-type': 'application/json' }
  expect((await rig.app.inject({ method: 'POST', url, headers: json, payload: '{' })).json().error).toBe(
    'invalid_client_metadata',
  )
  const large = { redirect_uris: [REDIRECT_URI], other: 'x'.repeat(20_000) }
  expect((await rig.app.inject({ method: 'POST', url, payload: large })).statusCode).toBe(413)
})

test('the whole way: request, sign-in, consent, code, token, refresh', async () => {
  const client = await registerClient(rig)
  const browser = openBrowser(rig.app)
  const page = await consentPage(rig, browser, await client.authorize(browser))
  expect(page.statusCode).toBe(200)
  for (const text of [
    'Test client',
    'name not verified',
    'http://127.0.0.1:33418',
    rig.user.email,
    'service:write',
    'Platform A',
  ])
    expect(page.body).toContain(text)
  expect(page.body).not.toMatch(/name="platforms"[^>]*checked/)
  expect(page.headers['content-security-policy']).toContain("form-action 'self' http://127.0.0.1:33418;")
  const redirect = await browser.submit('/consent', { decision: 'approve' }, { platforms: [choice()] })
  expect(redirect.statusCode).toBe(303)
  const given = paramsOf(redirect.headers.location)
  expect([given.get('state'), given.get('iss')]).toEqual(['state-1', TEST_IDENTITY_URL])
  const answer = await client.redeem(given.get('code') ?? '')
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json' })
  const tokens = answer.json()
  expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'service:read service:write' })
  const jwks = (await rig.app.inject('/.well-known/jwks.json')).json()
  for (const key of jwks.keys) expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
  const { payload } = await jwtVerify(tokens.access_token, createLocalJWKSet(jwks), {
    issuer: TEST_IDENTITY_URL,
    audience: TEST_BASE_URL,
    typ: 'at+jwt',
  })
  expect(decodeProtectedHeader(tokens.access_token).alg).toBe('ES256')
  expect(payload).toMatchObject({
    client_id: client.clientId,
    scope: 'service:read service:write',
    platforms: [{ id: rig.platforms[0].id, environment: 'LIVE' }],
  })
  expect(JSON.stringify(payload)).not.toContain(rig.user.email)
  const refreshed = (await client.refresh(tokens.refresh_token)).json()
  expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)
  expect((await client.refresh(refreshed.refresh_token, { scope: 'service:read' })).json().scope).toBe('service:read')
})

test('nothing that was handed out is in the database in clear', async () => {
  const client = await registerClient(rig)
  const code = await client.code([choice()])
  const { access_token, refresh_token } = (await client.redeem(code)).json()
  const tables = await rig.sql(
    `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  for (const { relname } of tables) {
    const [dump] = await rig.sql(`select string_agg(t::text, '\n') as text from "${relname}" t`)
    for (const secret of [code, access_token, refresh_token, rig.user.password, '"d":'])
      expect(String(dump?.['text'])).not.toContain(secret)
  }
})

test('a user with one membership has it preselected; a denied request is told so and is over', async () => {
  const platform = await createPlatform(rig.databaseUrl, 'Only one')
  const user = await createUser(rig.databaseUrl, 'solo@example.com', [platform.id])
  await rig.sql(`delete from user_memberships where platform_id = $1 and environment = 'TEST'`, [platform.id])
  const client = await registerClient(rig)
  const browser = openBrowser(rig.app)
  const page = await consentPage(rig, browser, await client.authorize(browser), user)
  expect(page.body).toContain(`value="${platform.id}:LIVE" checked`)
  const denied = await browser.submit('/consent', { decision: 'deny' })
  expect(Object.fromEntries(paramsOf(denied.headers.location))).toEqual({
    error: 'access_denied',
    state: 'state-1',
    iss: TEST_IDENTITY_URL,
  })
  expect(
    (await browser.submit('/consent', { decision: 'approve' }, { platforms: [`${platform.id}:LIVE`] })).statusCode,
  ).toBe(403)
})

test('approving without a platform shows the form again, with a message, and the request stays open', async () => {
  const client = await registerClient(rig)
  const browser = openBrowser(rig.app)
  await consentPage(rig, browser, await client.authorize(browser))
  const again = await browser.submit('/consent', { decision: 'approve' })
  expect([again.statusCode, again.body.includes('Choose at least one platform')]).toEqual([400, true])
  expect((await browser.submit('/consent', { decision: 'approve' }, { platforms: [choice()] })).statusCode).toBe(303)
})

test.each([
  ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
  ['no challenge', { code_challenge: '' }, 'invalid_request'],
  ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['no method', { code_challenge_method: '' }, 'invalid_request'],
  ['a short challenge', { code_challenge: 'a'.repeat(42) }, 'invalid_request'],
  ['another resource', { resource: 'https://evil.example' }, 'invalid_target'],
])('a request with %s is refused at the client, with state and iss', async (_name, more, error) => {
  const client = await registerClient(rig)
  const answer = await client.authorize(openBrowser(rig.app), more)
  expect(answer.statusCode).toBe(303)
  const given = paramsOf(answer.headers.location)
  expect([given.get('error'), given.get('state'), given.get('iss')]).toEqual([error, 'state-1', TEST_IDENTITY_URL])
})

test('a repeated parameter is refused', async () => {
  const client = await registerClient(rig)
  const query = new URLSearchParams({
    client_id: client.clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'a',
  })
  query.append('scope', 'b')
  const answer = await rig.app.inject(`/v1/oauth2/authorize?${query}`)
  expect(paramsOf(answer.headers.location).get('error')).toBe('invalid_request')
})

test.each([
  ['an unknown client', { client_id: 'clnt_unknown' }],
  ['no client', { client_id: '' }],
  ['another host', { redirect_uri: 'https://app.example.evil.com' }],
  ['a user in the address', { redirect_uri: 'https://app.example@evil.com' }],
  ['an extra query', { redirect_uri: `${REDIRECT_URI}?x=1` }],
  ['localhost for 127.0.0.1', { redirect_uri: 'http://localhost:33418/callback' }],
])('%s: a page and never a redirect', async (_name, more) => {
  const client = await registerClient(rig)
  const answer = await client.authorize(openBrowser(rig.app), more)
  expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined])
  expect(answer.headers['content-type']).toContain('text/html')
})

test('every failure of a consent is one and the same 403', async () => {
  const other = await createUser(rig.databaseUrl, 'eve@example.com', [rig.platforms[1].id])
  const client = await registerClient(rig)
  const open = async (user = rig.user) => {
    const browser = openBrowser(rig.app)
    const authorized = await client.authorize(browser)
    await consentPage(rig, browser, authorized, user)
    return { browser, path: String(authorized.headers.location) }
  }
  const signedIn = await open()
  const unknown = await signedIn.browser.get('/consent?request=areq_0123456789012345678901')
  const malformed = await signedIn.browser.get('/consent?request=x')
  const answered = await open()
  await answered.browser.submit('/consent', { decision: 'approve' }, { platforms: [choice()] })
  const twice = await answered.browser.get(answered.path)
  const victim = await open(other)
  const link = await victim.browser.get(signedIn.path)
  const noCookie = await openBrowser(rig.app).get(signedIn.path)
  const foreign = await open(other)
  const notMine = await foreign.browser.submit('/consent', { decision: 'approve' }, { platforms: [choice()] })
  const forged = await open()
  const badToken = await forged.browser.submit(
    '/consent',
    { decision: 'approve', csrf: 'x' },
    { platforms: [choice()] },
  )
  const rebound = await open()
  rebound.browser.cookies.delete('__Host-sid')
  await rebound.browser.get('/sign-in')
  await rebound.browser.submit('/sign-in', other)
  const otherUser = await rebound.browser.get(rebound.path)
  const late = await open()
  await rig.advance(301)
  const expired = await late.browser.get(late.path)
  const seen = [unknown, malformed, twice, link, noCookie, notMine, badToken, otherUser, expired].map(answer => {
    const { 'x-request-id': _id, date: _date, ...headers } = answer.headers
    return { status: answer.statusCode, headers, body: answer.body }
  })
  expect(seen[0]?.status).toBe(403)
  for (const each of seen) expect(each).toEqual(seen[0])
})
