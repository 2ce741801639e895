// Promise 2 once more, for those who come with a token, and with credentials that are over: every route, whatever they hold
// (security section 7, item 7; section 8, rows 13 and 14).
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPlatform, createUser } from '../../shared/access/create-platform.ts'
import { createTokenVerifier } from '../access/verify-access-token.ts'
import { type ApiHarness, callerWith, startApi, type TestTenant } from '../testing/harness.ts'
import { openProbe, PROBE_MS, type Stranger, type TenantProbe } from '../testing/probe-tenants.ts'

const [ISSUER, AUDIENCE] = ['http://identity.example', 'http://api.example']
const REVOKED_GRANT = 'gran_revoked'

let api: ApiHarness
let probe: TenantProbe
let privateKey: CryptoKey
let userOfA: string
let userOfB: string

beforeAll(async () => {
  const keys = await generateKeyPair('ES256')
  privateKey = keys.privateKey
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }
  const tokens = {
    verify: createTokenVerifier({
      keys: createLocalJWKSet({ keys: [jwk] }),
      issuer: ISSUER,
      audience: AUDIENCE,
      nowMs: Date.now,
    }),
    isRevoked: (grantId: string) => grantId === REVOKED_GRANT,
    metadataUrl: `${AUDIENCE}/.well-known/oauth-protected-resource`,
    close: async () => undefined,
  }
  api = await startApi({ tokens, addresses: { baseUrl: AUDIENCE, identityUrl: ISSUER } })
  const newUser = async (email: string, { tenant }: TestTenant): Promise<string> => {
    await createUser(api.databaseUrl, email, [tenant.platformId])
    return (await api.sql('select id from users where username = $1', [email]))[0]?.['id']
  }
  userOfA = await newUser('a@example.com', api.tenants.aLive)
  userOfB = await newUser('b@example.com', api.tenants.bLive)
  probe = await openProbe(api)
}, PROBE_MS)
afterAll(() => api?.close())

type Held = { userId: string; tenants: readonly TestTenant[]; scope?: string; grantId?: string; seconds?: number }

/** A caller with a token of this content. */
async function bearer(held: Held, headers: Record<string, string> = {}): Promise<TestTenant['call']> {
  const { userId, tenants, scope = 'service:read service:write', grantId = 'gran_live', seconds = 3_600 } = held
  const platforms = tenants.map(({ tenant }) => ({ id: tenant.platformId, environment: tenant.environment }))
  const token = await new SignJWT({ client_id: 'clnt_1', scope, gid: grantId, platforms })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(userId)
    .setJti(`${userId} ${scope} ${grantId} ${seconds} ${JSON.stringify(platforms)}`)
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1_000) + seconds)
    .sign(privateKey)
  return callerWith(api.app, { authorization: `Bearer ${token}`, ...headers })
}

/** A caller with a PROXY key of this tenant that may act for `listed`, and says that it acts for `user`. */
async function proxy({ call }: TestTenant, listed: string, user: string, more = {}): Promise<TestTenant['call']> {
  const made = await call('POST', '/v1/api-keys', {
    type: 'PROXY',
    role_type: 'ADMINISTRATOR',
    original_user_ids: [listed],
  })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return callerWith(api.app, { 'x-api-key': made.body['api_key'], 'x-original-user': user, ...more })
}

async function revokedKey(): Promise<string> {
  const { id, environments } = await createPlatform(api.databaseUrl, 'Platform C')
  await api.sql('update api_keys set revoked_at = now() where platform_id = $1', [id])
  return environments.LIVE.api_key
}

test(
  'no token of another platform or environment, and no credential that is over, sees or changes a thing',
  async () => {
    const { aLive, aTest, bLive, bTest } = api.tenants
    const toA = { 'x-platform-id': aLive.tenant.platformId, 'x-environment': 'LIVE' }
    const strangers: Stranger[] = [
      { name: 'a token of B LIVE', tenant: bLive, call: await bearer({ userId: userOfB, tenants: [bLive] }) },
      { name: 'a token of B TEST', tenant: bTest, call: await bearer({ userId: userOfB, tenants: [bTest] }) },
      // Of the same user as the victim's own token: the user may, and did not let this application.
      { name: 'a token of A TEST', tenant: aTest, call: await bearer({ userId: userOfA, tenants: [aTest] }) },
      {
        name: 'a token of B that asks for A',
        call: await bearer({ userId: userOfB, tenants: [bLive, bTest] }, toA),
        expect: [404],
      },
      { name: 'a token of A whose user is not a member', call: await bearer({ userId: userOfB, tenants: [aLive] }) },
      { name: 'a token of nobody', call: await bearer({ userId: 'user_nobody', tenants: [aLive] }) },
      { name: 'an expired token', call: await bearer({ userId: userOfA, tenants: [aLive], seconds: -60 }) },
      {
        name: 'a token of a revoked grant',
        call: await bearer({ userId: userOfA, tenants: [aLive], grantId: REVOKED_GRANT }),
      },
      { name: 'a token of no platform', call: await bearer({ userId: userOfA, tenants: [] }), expect: [401, 404] },
      { name: 'a revoked key', call: callerWith(api.app, { 'x-api-key': await revokedKey() }) },
      { name: 'a key with a letter changed', call: callerWith(api.app, { 'x-api-key': `${aLive.key.slice(0, -1)}!` }) },
      { name: 'a key as a token', call: callerWith(api.app, { authorization: `Bearer ${aLive.key}` }) },
      {
        name: 'a PROXY key of A for a user it may not act for',
        call: await proxy(aLive, userOfA, userOfB),
        expect: [403],
      },
      {
        name: 'a PROXY key of A for nobody',
        call: await proxy(aLive, userOfA, 'user_0000000000000000000000'),
        expect: [403],
      },
      { name: 'a PROXY key of B for its own user', tenant: bLive, call: await proxy(bLive, userOfB, userOfB) },
      { name: 'a PROXY key of B that asks for A', call: await proxy(bLive, userOfB, userOfB, toA) },
      { name: 'a key of B that asks for A', call: callerWith(api.app, { 'x-api-key': bLive.key, ...toA }) },
    ]
    expect(await probe.find(strangers)).toEqual([])
  },
  PROBE_MS,
)

test(
  'a token to read reads on every route that reads, and on every other learns what it lacks',
  async () => {
    const call = await bearer({ userId: userOfA, tenants: [api.tenants.aLive], scope: 'service:read' })
    const answers = await probe.visit(call)
    const wrong = answers.filter(({ permission, answer }) =>
      permission.endsWith('.VIEW')
        ? [401, 403].includes(answer.status)
        : answer.status !== 403 ||
          answer.body['code'] !== 'INSUFFICIENT_SCOPE' ||
          !String(answer.headers['www-authenticate']).includes('scope="service:read service:write"'),
    )
    expect(wrong.map(({ what, answer }) => `${what}: ${answer.status}`)).toEqual([])
    const kinds = (reads: boolean) => answers.filter(({ permission }) => permission.endsWith('.VIEW') === reads).length
    expect([kinds(true) > 20, kinds(false) > 20]).toEqual([true, true])
  },
  PROBE_MS,
)

// Last, since what it finds it may also have changed.
test(
  'the probe finds a token that reaches further than it says',
  async () => {
    const wrong = await bearer({ userId: userOfA, tenants: [api.tenants.aLive] })
    const found = await probe.find([
      { name: 'a token of A', tenant: api.tenants.bLive, call: wrong },
      { name: 'an end that is none', call: wrong },
    ])
    for (const name of ['a token of A', 'an end that is none'])
      expect(found.filter(line => line.startsWith(name)).length).toBeGreaterThan(10)
  },
  PROBE_MS,
)
