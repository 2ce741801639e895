// The keys of a tenant, asked for by everybody who should not see or change them: every route of theirs, with every kind of
// credential (security 7.7). The keys of other tenants are in the probe of all routes (api/tenancy/tenancy.it.test.ts).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createUser } from '../../../../shared/access/create-platform.ts'
import { createIngestKey } from '../../../../shared/access/ingest-key.ts'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { type ApiHarness, callerWith, type TestTenant } from '../../../testing/harness.ts'
import { type Person, startTokenApi, type TokenRig } from '../../../testing/token-rig.ts'

let rig: TokenRig
let api: ApiHarness
let victim: TestTenant
let person: Person
/** A user of platform B. */
let stranger: string
let keyId: string
const CANARY = 'a description nobody else may read'

beforeAll(async () => {
  rig = await startTokenApi()
  api = rig.api
  victim = api.tenants.aLive
  person = await rig.person()
  await api.sql(`delete from user_memberships where user_id = $1 and environment = 'TEST'`, [person.userId])
  await createUser(api.databaseUrl, 'b@example.com', [api.tenants.bLive.tenant.platformId])
  stranger = (await api.sql(`select id from users where username = 'b@example.com'`))[0]?.['id']
  const made = await victim.call('POST', '/v1/api-keys', {
    description: CANARY,
    type: 'PROXY',
    original_user_ids: [person.userId],
  })
  keyId = made.body['id']
})
afterAll(() => rig?.close())

type Headers = Record<string, string>
const make = async (tenant: TestTenant, body: object) => (await tenant.call('POST', '/v1/api-keys', body)).body
const platformsOf = ({ tenant }: TestTenant) => [{ id: tenant.platformId, environment: tenant.environment }]
const bearer = async (claims: object, seconds = 600): Promise<Headers> => ({
  authorization: `Bearer ${await person.token({ claims: { ...claims }, seconds })}`,
})

/** Credentials that are good, for something else. */
const ELSEWHERE: readonly [string, () => Promise<Headers>][] = [
  ['a key of TEST', async () => ({ 'x-api-key': api.tenants.aTest.key })],
  ['a key of another platform', async () => ({ 'x-api-key': api.tenants.bLive.key })],
  ['a token of another platform', () => bearer({ sub: stranger, platforms: platformsOf(api.tenants.bLive) })],
  [
    'a PROXY key of another platform, for its own user',
    async () => {
      const body = { type: 'PROXY', role_type: 'ADMINISTRATOR', original_user_ids: [stranger] }
      return { 'x-api-key': (await make(api.tenants.bLive, body))['api_key'], 'x-original-user': stranger }
    },
  ],
]

/** Credentials that are none. */
const NONE: readonly [string, number, () => Promise<Headers>][] = [
  ['nothing', 401, async () => ({})],
  [
    'a key that was revoked',
    401,
    async () => {
      const { id, api_key: text } = await make(victim, { role_type: 'ADMINISTRATOR' })
      await victim.call('POST', `/v1/api-keys/${id}/revoke`)
      const call = callerWith(api.app, { 'x-api-key': text })
      await expect.poll(async () => (await call('GET', '/v1/customers')).status, { timeout: 60_000 }).toBe(401)
      return { 'x-api-key': text }
    },
  ],
  [
    'a key that has expired',
    401,
    async () => {
      const made = await inTenant(api.database, victim.tenant, SERVICE, uow => createIngestKey(uow, 'test'))
      await api.sql(`update api_keys set expires_at = now() - interval '1 second' where id = $1`, [made.id])
      return { 'x-api-key': made.text }
    },
  ],
  ['a token that has expired', 401, () => bearer({}, -60)],
  ['a token of its platform whose user is no member', 401, () => bearer({ sub: stranger })],
  [
    'a PROXY key for a user it does not reach',
    403,
    async () => ({
      'x-api-key': (await make(victim, { type: 'PROXY', role_type: 'ADMINISTRATOR' }))['api_key'],
      'x-original-user': person.userId,
    }),
  ],
  [
    'a PROXY key of another platform, for a user of this one',
    403,
    async () => ({
      'x-api-key': (await make(api.tenants.bLive, { type: 'PROXY', role_type: 'ADMINISTRATOR' }))['api_key'],
      'x-original-user': person.userId,
    }),
  ],
]

/** Every call on keys, with the victim's id wherever one can stand. */
function calls(): { method: string; url: string; body: unknown; named: boolean }[] {
  const bodies: Record<string, unknown> = {
    'POST /v1/api-keys': { type: 'PROXY', original_user_ids: [person.userId] },
    'PATCH /v1/api-keys/:id': { description: 'taken' },
    'POST /v1/api-keys/search': { resource_id: keyId, include_inactive: true },
  }
  return api.routes
    .filter(({ url }) => url.startsWith('/v1/api-keys'))
    .map(({ method, url }) => ({
      method,
      url: url.replace(':id', keyId),
      body: bodies[`${method} ${url}`],
      named: url !== '/v1/api-keys' || method !== 'GET',
    }))
}
const stored = () => api.sql('select * from api_keys where id = $1', [keyId])

let before: unknown
beforeEach(async () => {
  before = await stored()
})

test('there are seven calls on keys', () => {
  expect(calls()).toHaveLength(7)
})

describe('with a credential for something else', () => {
  test.each(ELSEWHERE)('%s, the keys are not there', async (_name, headersOf) => {
    const call = callerWith(api.app, await headersOf())
    for (const { method, url, body, named } of calls()) {
      const answer = await call(method, url, body)
      const expected = named ? [403, 404] : [200]
      expect({ method, url, ok: expected.includes(answer.status), body: answer.body }).toMatchObject({ ok: true })
      expect(JSON.stringify(answer.body)).not.toContain(CANARY)
    }
    expect(await stored()).toEqual(before)
  })
})

describe('with a credential that is none', () => {
  test.each(NONE)('%s, every call is refused', async (_name, status, headersOf) => {
    const call = callerWith(api.app, await headersOf())
    for (const { method, url, body } of calls()) {
      const answer = await call(method, url, body)
      expect({ method, url, status: answer.status }).toEqual({ method, url, status })
      expect(JSON.stringify(answer.body)).not.toContain(CANARY)
    }
    expect(await stored()).toEqual(before)
  })
})
