// Bearer tokens at the api: what they are checked for, how far they reach, and how soon they end (contract: Authentication 3;
// security 1.2, items 32 to 34, and section 8, rows 12 and 13).
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { isAboutAccess } from '../http/permissions.ts'
import { customerResource } from '../modules/parties/customers/resource.ts'
import { type ApiHarness, callerWith } from '../testing/harness.ts'
import { AUDIENCE, ISSUER, type Person, startTokenApi, type TokenChange, type TokenRig } from '../testing/token-rig.ts'

let rig: TokenRig
let api: ApiHarness
let keys: TokenRig['keys']
let token: Person['token']
let userId: string
let grantId: string

beforeAll(async () => {
  rig = await startTokenApi()
  api = rig.api
  keys = rig.keys
})
afterAll(() => rig?.close())

beforeEach(async () => {
  const person = await rig.person()
  userId = person.userId
  grantId = person.grantId
  token = person.token
})

const callWith = async (change: TokenChange = {}, headers: Record<string, string> = {}) =>
  callerWith(api.app, { authorization: `Bearer ${await token(change)}`, ...headers })

test('a token reads and writes what its user may, and the trail names the user', async () => {
  const call = await callWith()
  const made = await call('POST', '/v1/customers', await customerResource.fixture.create(api.tenants.aLive.seed))
  expect(made.status).toBe(201)
  expect((await call('GET', `/v1/customers/${made.body['id']}`)).status).toBe(200)
  const [row] = await api.sql('select actor_id from outbox where object_id = $1', [made.body['id']])
  expect(row).toEqual({ actor_id: userId })
})

test('a token of scope read reads, and learns what it lacks', async () => {
  const call = await callWith({ claims: { scope: 'service:read' } })
  expect((await call('GET', '/v1/customers')).status).toBe(200)
  expect((await call('POST', '/v1/customers/search', {})).status).toBe(200)
  const refused = await call('POST', '/v1/customers', { type: 'ORGANIZATION' })
  expect([refused.status, refused.body['code']]).toEqual([403, 'INSUFFICIENT_SCOPE'])
  expect(refused.headers['www-authenticate']).toContain(
    'scope="service:read service:write", error="insufficient_scope"',
  )
})

test.each<[string, TokenChange]>([
  ['of another issuer', { claims: { iss: 'http://evil.example' } }],
  ['for another resource', { claims: { aud: 'http://other.example' } }],
  ['that is over', { seconds: -6 }],
  ['of another type', { header: { typ: 'JWT' } }],
  ['of a foreign key id', { header: { kid: 'k2' } }],
  ['without a grant', { claims: { gid: undefined } }],
  ['without platforms', { claims: { platforms: undefined } }],
  ['with platforms that are none', { claims: { platforms: [{ id: 'x', environment: 'PROD' }] } }],
])('a token %s is refused with the way to a new one', async (_name, change) => {
  const refused = await (await callWith(change))('GET', '/v1/customers')
  expect(refused.status).toBe(401)
  expect(refused.headers['www-authenticate']).toBe(
    `Bearer resource_metadata="${AUDIENCE}/.well-known/oauth-protected-resource", scope="service:read", error="invalid_token"`,
  )
})

test('a token signed with another key, with none, or with our public key as a secret is refused', async () => {
  const foreign = await generateKeyPair('ES256')
  const jwk = new TextEncoder().encode(JSON.stringify(await exportJWK(keys.publicKey)))
  const whole = await token()
  const [, payload = ''] = whole.split('.')
  const none = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${payload}.`
  const forged = [
    await token({ key: foreign.privateKey }),
    await token({
      key: foreign.privateKey,
      header: { jku: 'http://127.0.0.1:1/jwks', jwk: await exportJWK(keys.publicKey) },
    }),
    await token({ key: jwk, header: { alg: 'HS256' } }),
    none,
    `${whole.slice(0, -2)}AA`,
    'x'.repeat(5_000),
    'x y',
  ]
  for (const authorization of [...forged.map(each => `Bearer ${each}`), `Basic ${whole}`])
    expect((await callerWith(api.app, { authorization })('GET', '/v1/customers')).status).toBe(401)
})

test('without any credential the answer says how to get one; a token in the address is never read', async () => {
  const nobody = callerWith(api.app, {})
  expect((await nobody('GET', '/v1/customers')).headers['www-authenticate']).toContain('resource_metadata=')
  expect((await nobody('GET', `/v1/openapi.json?access_token=${await token()}`)).status).toBe(200) // open to all
  expect((await nobody('GET', `/v1/platforms/x?access_token=${await token()}`)).status).toBeGreaterThanOrEqual(400)
  const both = await callWith({}, { 'x-api-key': api.tenants.aLive.key })
  expect((await both('GET', '/v1/customers')).status).toBe(400)
})

test('a token reaches its own platforms and no other, and must say which when it has several', async () => {
  const { platformId } = api.tenants.aLive.tenant
  const theirs = await api.tenants.bLive.seed.make(customerResource)
  const one = await callWith()
  expect((await one('GET', `/v1/customers/${theirs['id']}`)).status).toBe(404)
  expect(
    (await one('GET', '/v1/customers', undefined, { 'x-platform-id': api.tenants.bLive.tenant.platformId })).status,
  ).toBe(404)
  expect((await one('GET', '/v1/customers', undefined, { 'x-environment': 'TEST' })).status).toBe(404)
  const platforms = ['TEST', 'LIVE'].map(environment => ({ id: platformId, environment }))
  const two = await callWith({ claims: { platforms } })
  expect((await two('GET', '/v1/customers')).status).toBe(400)
  expect((await two('GET', '/v1/customers', undefined, { 'x-environment': 'TEST' })).status).toBe(200)
})

test('a token of a platform its user is no member of is worth nothing', async () => {
  const platforms = [{ id: api.tenants.bLive.tenant.platformId, environment: 'LIVE' }]
  expect((await (await callWith({ claims: { platforms } }))('GET', '/v1/customers')).status).toBe(401)
})

test('a role bounds the token whatever its scope says', async () => {
  await api.sql(`update user_memberships set role_ids = '{role_viewer}' where user_id = $1`, [userId])
  const call = await callWith()
  expect((await call('GET', '/v1/customers')).status).toBe(200)
  expect((await call('POST', '/v1/customers', { type: 'ORGANIZATION' })).body['code']).toBe('USER_NOT_ALLOWED')
})

test('no token changes keys, users, roles or teams, whatever its scope and its user may', async () => {
  const call = await callWith()
  const bodies: Readonly<Record<string, unknown>> = {
    'POST /v1/api-keys': { role_type: 'ADMINISTRATOR' },
    'POST /v1/roles': { name: 'mine', permissions: ['*'] },
    'POST /v1/teams': { name: 'ours' },
    'POST /v1/teams/:id/members': { user_id: userId },
    'POST /v1/users': { username: 'friend@example.com' },
    'POST /v1/users/invite': { username: 'friend@example.com' },
    'POST /v1/users/:id/teams': { team_id: 'team_any' },
    'PATCH /v1/users/:id': { active: true },
    'PATCH /v1/users/:id/memberships/:membershipResourceId': { role_ids: ['role_administrator'] },
  }
  const routes = api.routes.filter(({ permission }) => isAboutAccess(permission))
  expect(routes.length).toBeGreaterThan(15)
  for (const { method, url, permission } of routes) {
    const body = method === 'DELETE' ? undefined : (bodies[`${method} ${url}`] ?? {})
    const { status, body: answer } = await call(method, url.replace(/:\w+/g, 'any'), body)
    expect({ method, url, status, code: answer['code'] }).toEqual({
      method,
      url,
      status: 403,
      code: 'USER_NOT_ALLOWED',
    })
    expect(answer['message']).toContain(permission)
  }
  expect((await call('GET', '/v1/api-keys')).status).toBe(200)
})

test.each([
  [
    'the grant is revoked',
    () => api.sql(`update oauth_grants set revoked_at = now(), revoke_reason = 'USER' where id = $1`, [grantId]),
  ],
  ['the membership is removed', () => api.sql('delete from user_memberships where user_id = $1', [userId])],
  ['the user is deactivated', () => api.sql(`update users set status = 'INACTIVE' where id = $1`, [userId])],
])('a token stops working within seconds when %s', async (_name, end) => {
  const call = await callWith()
  expect((await call('GET', '/v1/customers')).status).toBe(200)
  await end()
  // The promise is 5 s: the poll runs every 4 s. Other tests may keep the processor busy, so the limit is longer.
  await expect.poll(async () => (await call('GET', '/v1/customers')).status, { timeout: 30_000 }).toBe(401)
})

test('the metadata points to the authorization server and lists the scope to begin with', async () => {
  for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
    const answer = await callerWith(api.app, {})('GET', path)
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(answer.body).toMatchObject({
      resource: AUDIENCE,
      authorization_servers: [ISSUER],
      scopes_supported: ['service:read'],
    })
  }
})
