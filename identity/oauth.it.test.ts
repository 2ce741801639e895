// The authorization server as clients and browsers meet it (contract: Identity host; security 1.2 and section 8, rows 1 to 11).

import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectPayloads } from '../api/testing/event-payloads.ts'
import { createPlatform, createUser } from '../shared/access/create-platform.ts'
import { createRateLimits } from './http/rate-limits.ts'
import { openBrowser } from './testing/browser.ts'
import { type IdentityRig, startIdentity, TEST_BASE_URL, TEST_IDENTITY_URL } from './testing/identity-rig.ts'
import { consentPage, postForm, REDIRECT_URI, registerClient } from './testing/oauth-client.ts'

let rig: IdentityRig
const unlimited = { take: async () => null, blocked: async () => null, giveBack: async () => undefined }
beforeAll(async () => {
  rig = await startIdentity({
    limits: {
      ...createRateLimits(),
      register: unlimited,
      authorize: unlimited,
      token: unlimited,
      tokenRefused: unlimited,
    },
  })
})
afterAll(() => rig?.close())

const choice = (environment = 'LIVE') => `${rig.platforms[0].id}:${environment}`
const paramsOf = (location: unknown) => new URL(String(location)).searchParams

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

test('a code redeems once under fifty parallel exchanges, and the replay ends the grant', async () => {
  const client = await registerClient(rig)
  const code = await client.code([choice()])
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.redeem(code)))
  expect(answers.filter(answer => answer.statusCode === 200)).toHaveLength(1)
  expect(new Set(answers.filter(answer => answer.statusCode !== 200).map(answer => answer.json().error))).toEqual(
    new Set(['invalid_grant']),
  )
  const won = answers.find(answer => answer.statusCode === 200)?.json()
  expect((await client.refresh(won.refresh_token)).json().error).toBe('invalid_grant')
})

test('a code is bound to its client, its address and its verifier, and lives 60 seconds', async () => {
  const [client, thief] = [await registerClient(rig), await registerClient(rig)]
  const code = await client.code([choice()])
  const errors = [
    await thief.redeem(code, { code_verifier: client.verifier }),
    await client.redeem(code, { redirect_uri: 'http://127.0.0.1:1/callback' }),
    await client.redeem(code, { code_verifier: 'a'.repeat(43) }),
    await client.redeem(code, { code_verifier: 'a'.repeat(42) }),
  ].map(answer => answer.json().error)
  expect(new Set(errors)).toEqual(new Set(['invalid_grant']))
  expect((await client.redeem(code)).statusCode).toBe(200)
  const guessed = await client.code([choice()])
  for (let guess = 0; guess < 3; guess += 1) await client.redeem(guessed, { code_verifier: 'b'.repeat(43) })
  expect((await client.redeem(guessed)).json().error).toBe('invalid_grant')
  const slow = await client.code([choice()])
  await rig.advance(61)
  expect((await client.redeem(slow)).json().error).toBe('invalid_grant')
})

test('fifty parallel refreshes give one successor; a stolen token found later ends the family', async () => {
  const client = await registerClient(rig)
  const { refresh_token } = (await client.redeem(await client.code([choice()]))).json()
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.refresh(refresh_token)))
  const successors = new Set(answers.map(answer => answer.json().refresh_token))
  expect([...successors]).toHaveLength(1)
  const [successor = ''] = [...successors]
  const next = (await client.refresh(successor)).json().refresh_token
  expect((await client.refresh(refresh_token)).json().error).toBe('invalid_grant')
  expect((await client.refresh(next)).json().error).toBe('invalid_grant')
  const [grant] = await rig.sql('select id, revoke_reason from oauth_grants where client_id = $1', [client.clientId])
  expect(grant).toMatchObject({ revoke_reason: 'REFRESH_TOKEN_REUSED' })
  const notices = await rig.sql(
    `select type, platform_id, environment from outbox where data->>'client_id' = $1 order by seq`,
    [client.clientId],
  )
  expect(notices).toEqual(
    ['OAUTH_GRANT.CREATED', 'OAUTH_GRANT.REVOKED'].map(type => ({
      type,
      platform_id: rig.platforms[0].id,
      environment: 'LIVE',
    })),
  )
  await expectPayloads(rig, grant?.['id'], ['OAUTH_GRANT.CREATED', 'OAUTH_GRANT.REVOKED'])
})

test('a lost answer is given again for a minute and then is theft', async () => {
  const client = await registerClient(rig)
  const { refresh_token } = (await client.redeem(await client.code([choice()]))).json()
  const first = (await client.refresh(refresh_token)).json().refresh_token
  await rig.advance(55)
  expect((await client.refresh(refresh_token)).json().refresh_token).toBe(first)
  await rig.advance(10)
  expect((await client.refresh(refresh_token)).json().error).toBe('invalid_grant')
  expect((await client.refresh(first)).json().error).toBe('invalid_grant')
})

test('a refresh cannot outlive a revocation, however the two meet', async () => {
  for (let round = 0; round < 20; round += 1) {
    const client = await registerClient(rig)
    const { refresh_token } = (await client.redeem(await client.code([choice()]))).json()
    const revoke = postForm(rig, '/v1/oauth2/revoke', { client_id: client.clientId, token: refresh_token })
    const [revoked, refreshed] = await Promise.all([revoke, client.refresh(refresh_token)])
    expect(revoked.statusCode).toBe(200)
    const left = refreshed.statusCode === 200 ? refreshed.json().refresh_token : refresh_token
    expect((await client.refresh(left)).json().error).toBe('invalid_grant')
  }
})

test('a refresh follows the user: lost platforms fall away, the last one ends the grant', async () => {
  const platform = await createPlatform(rig.databaseUrl, 'Followed')
  const user = await createUser(rig.databaseUrl, 'grace@example.com', [platform.id])
  const client = await registerClient(rig)
  const browser = openBrowser(rig.app)
  await consentPage(rig, browser, await client.authorize(browser), user)
  const platforms = ['LIVE', 'TEST'].map(environment => `${platform.id}:${environment}`)
  const redirect = await browser.submit('/consent', { decision: 'approve' }, { platforms })
  const first = (await client.redeem(paramsOf(redirect.headers.location).get('code') ?? '')).json()
  await rig.sql(`delete from user_memberships where platform_id = $1 and environment = 'LIVE'`, [platform.id])
  const second = (await client.refresh(first.refresh_token)).json()
  const claims = JSON.parse(Buffer.from(second.access_token.split('.')[1], 'base64url').toString())
  expect(claims.platforms).toEqual([{ id: platform.id, environment: 'TEST' }])
  await rig.sql('delete from user_memberships where platform_id = $1', [platform.id])
  expect((await client.refresh(second.refresh_token)).json().error).toBe('invalid_grant')
  const [grant] = await rig.sql('select revoke_reason from oauth_grants where client_id = $1', [client.clientId])
  expect(grant).toEqual({ revoke_reason: 'NO_PLATFORM_LEFT' })
})

test('revocation: either token ends the grant, only for its own client, and an unknown one is no fault', async () => {
  const [client, other] = [await registerClient(rig), await registerClient(rig)]
  const tokens = (await client.redeem(await client.code([choice()]))).json()
  const revoke = (clientId: string, token: string) => postForm(rig, '/v1/oauth2/revoke', { client_id: clientId, token })
  for (const token of ['unknown', tokens.access_token, tokens.refresh_token])
    expect((await revoke(other.clientId, token)).statusCode).toBe(200)
  const next = (await client.refresh(tokens.refresh_token)).json()
  expect(next.refresh_token).toBeDefined()
  const [head, , signature] = next.access_token.split('.')
  const gid = JSON.parse(Buffer.from(next.access_token.split('.')[1], 'base64url').toString()).gid
  const forged = [head, Buffer.from(JSON.stringify({ gid })).toString('base64url'), signature].join('.')
  await revoke(client.clientId, forged)
  const after = (await client.refresh(next.refresh_token)).json()
  expect(after.refresh_token).toBeDefined()
  expect((await revoke(client.clientId, after.access_token)).statusCode).toBe(200)
  expect((await client.refresh(after.refresh_token)).json().error).toBe('invalid_grant')
})

test('the token endpoint names each fault as its specification does', async () => {
  const client = await registerClient(rig)
  const call = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const answer = await rig.app.inject({
      method: 'POST',
      url: '/v1/oauth2/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams(fields).toString(),
    })
    return [answer.statusCode, answer.json().error]
  }
  const id = { client_id: client.clientId }
  expect(await call({})).toEqual([400, 'invalid_request'])
  expect(await call({ client_id: 'clnt_unknown', grant_type: 'refresh_token' })).toEqual([401, 'invalid_client'])
  expect(await call(id, { authorization: 'Basic eDp5' })).toEqual([401, 'invalid_client'])
  expect(await call({ ...id, grant_type: 'password' })).toEqual([400, 'unsupported_grant_type'])
  expect(await call({ ...id, grant_type: 'authorization_code' })).toEqual([400, 'invalid_request'])
  const refreshCall = { ...id, grant_type: 'refresh_token', refresh_token: 'x' }
  expect(await call(refreshCall)).toEqual([400, 'invalid_grant'])
  expect(await call({ ...refreshCall, resource: 'https://evil.example' })).toEqual([400, 'invalid_target'])
  const json = await rig.app.inject({ method: 'POST', url: '/v1/oauth2/token', payload: id })
  expect(json.statusCode).toBe(415)
})

test('a new signing key is published before it signs, and the old one stays until nothing signed with it lives', async () => {
  const kids = async () =>
    (await rig.app.inject('/.well-known/jwks.json')).json().keys.map((key: { kid: string }) => key.kid)
  const [old] = await kids()
  await rig.advance(91 * 86_400)
  await Promise.all([rig.keystore.rotate(), rig.keystore.rotate()])
  expect(await kids()).toHaveLength(2)
  expect((await rig.keystore.signingKey()).kid).toBe(old)
  await rig.advance(601)
  const signing = (await rig.keystore.signingKey()).kid
  expect(signing).not.toBe(old)
  await rig.keystore.rotate()
  expect(await kids()).toContain(old)
  await rig.advance(86_400)
  await rig.keystore.rotate()
  expect(await kids()).toEqual([signing])
})
