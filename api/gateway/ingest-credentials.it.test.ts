// Bearer tokens, and PROXY keys that act for a user, at the ingest paths of the api, with the real gateway behind it: the api
// judges them, and the gateway never sees them (contract: Authentication 2 and 3; security 1.2, items 32 to 34).

import { type Dispatcher, Pool } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ingestConfig } from '../../ingest/config.ts'
import { type Gateway, startGateway } from '../../ingest/gateway.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { startTestNats, type TestNats } from '../../shared/testing/nats.ts'
import { meterResource } from '../modules/catalog/meters/meter.ts'
import { type ApiHarness, callerWith } from '../testing/harness.ts'
import { type Person, startTokenApi, type TokenChange, type TokenRig } from '../testing/token-rig.ts'
import type { Row } from '../testing/wire.ts'
import { FORWARDED } from './forward-ingest.ts'

let nats: TestNats
let gateway: Gateway
let pool: Pool
let rig: TokenRig
let api: ApiHarness
let meter: Row
let person: Person
/** The headers of every request the gateway was sent by the api. */
const sent: string[][] = []

beforeAll(async () => {
  nats = await startTestNats()
  // The gateway wants the database of the api, and the api the address of the gateway.
  const dispatcher = {
    request: (options: Dispatcher.RequestOptions) => {
      sent.push(options.headers as string[])
      return pool.request(options)
    },
  } as Dispatcher
  rig = await startTokenApi({ gateway: { dispatcher, bodyBytesMax: 262_144 } })
  api = rig.api
  const settings = {
    PORT: '0',
    METRICS_PORT: '0',
    DATABASE_URL: loginOf(api.databaseUrl, 'millrace_gateway'),
    NATS_URL: nats.url,
    PARTITIONS: '2',
    DURABILITY: 'local',
  }
  gateway = await startGateway(ingestConfig(settings), silentLogger)
  pool = new Pool(originOfGateway())
  meter = await api.tenants.aLive.seed.make(meterResource)
})
afterAll(async () => {
  await rig?.close()
  await pool?.close()
  await gateway?.stop()
  await nats?.stop()
})
beforeEach(async () => {
  person = await rig.person()
  sent.length = 0
})

const originOfGateway = () => `http://127.0.0.1:${gateway.port}`
const event = (more: object = {}) => ({
  reference: api.tenants.aLive.seed.unique('event'),
  customer_reference: 'acme',
  meter_reference: meter['reference'],
  meter_values: [{ reference: meter['meter_values'][0].reference, number: '1' }],
  ...more,
})
type Headers = Record<string, string>
const send = (headers: Headers, body: unknown = event(), path = '/v1/events/ingest') =>
  callerWith(api.app, headers)('POST', path, body)
const bearer = async (change: TokenChange = {}, more: Headers = {}): Promise<Headers> => ({
  authorization: `Bearer ${await person.token(change)}`,
  ...more,
})
const keySent = (): string => {
  const headers = sent.at(-1) ?? []
  return headers[headers.indexOf('x-api-key') + 1] ?? ''
}
const toGateway = async (headers: Headers): Promise<{ status: number; body: Row }> => {
  const response = await fetch(`${originOfGateway()}/v1/events/ingest`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(event()),
  })
  return { status: response.status, body: (await response.json()) as Row }
}
const setRole = (role: string) =>
  api.sql('update user_memberships set role_ids = array[$1] where user_id = $2', [role, person.userId])
async function proxyKey(): Promise<string> {
  const made = await api.tenants.aLive.call('POST', '/v1/api-keys', {
    type: 'PROXY',
    role_type: 'ADMINISTRATOR',
    original_user_ids: [person.userId],
  })
  return made.body['api_key']
}
const refused = async (headers: Headers, status: number, code: string): Promise<void> => {
  const answer = await send(headers)
  expect([answer.status, answer.body['code']]).toEqual([status, code])
  expect(sent).toEqual([])
}

describe('a bearer token', () => {
  test('sends events by every name of the call', async () => {
    for (const path of Object.keys(FORWARDED)) {
      const isList = /list|batch|datas/.test(path)
      const answer = await send(await bearer(), isList ? [event(), event()] : event(), path)
      expect([path, answer.status]).toEqual([path, 201])
    }
  })

  test('is exchanged for a key of the api, which the gateway knows and nobody else', async () => {
    await send(await bearer({}, { 'x-platform-id': api.tenants.aLive.tenant.platformId, 'x-environment': 'LIVE' }))
    const names = sent.at(-1)?.filter((_, at) => at % 2 === 0)
    for (const name of ['authorization', 'x-platform-id', 'x-environment', 'x-original-user'])
      expect(names).not.toContain(name)
    const key = keySent()
    await send(await bearer())
    expect(keySent()).toBe(key)
    const [row] = await api.sql(
      `select type, role_type, environment, expires_at < now() + interval '11 minutes' as short from api_keys where display_prefix = $1`,
      [key.slice(0, 26)],
    )
    expect(row).toEqual({ type: 'INTERNAL', role_type: 'INGEST', environment: 'LIVE', short: true })
    expect((await callerWith(api.app, { 'x-api-key': key })('GET', '/v1/customers')).status).toBe(403)
    const listed = (await api.tenants.aLive.call('GET', '/v1/api-keys')).body['data']
    expect(listed.map((each: Row) => each['display_prefix'])).not.toContain(key.slice(0, 26))
  })

  test('of scope read sends nothing', async () => {
    await refused(await bearer({ claims: { scope: 'service:read' } }), 403, 'INSUFFICIENT_SCOPE')
  })

  test('of a user who may not send sends nothing', async () => {
    await setRole('role_viewer')
    await refused(await bearer(), 403, 'USER_NOT_ALLOWED')
  })

  test('reaches its own platform and environment and no other', async () => {
    const { platformId } = api.tenants.bLive.tenant
    await refused(await bearer({}, { 'x-platform-id': platformId }), 404, 'RESOURCE_NOT_FOUND')
    await refused(await bearer({}, { 'x-environment': 'TEST' }), 404, 'RESOURCE_NOT_FOUND')
    const foreign = { platforms: [{ id: platformId, environment: 'LIVE' }] }
    await refused(await bearer({ claims: foreign }), 401, 'UNAUTHORISED')
    const own = api.tenants.aLive.tenant.platformId
    const both = { claims: { platforms: ['TEST', 'LIVE'].map(environment => ({ id: own, environment })) } }
    await refused(await bearer(both), 400, 'BAD_REQUEST')
    expect((await send(await bearer(both, { 'x-environment': 'LIVE' }))).status).toBe(201)
    // The meter is one of LIVE, and TEST has none of that name.
    expect((await send(await bearer(both, { 'x-environment': 'TEST' }))).body['field']).toBe('meter_reference')
  })

  test.each([
    [
      'whose grant is revoked',
      () =>
        api.sql(`update oauth_grants set revoked_at = now(), revoke_reason = 'USER' where id = $1`, [person.grantId]),
    ],
    [
      'whose user is no member any more',
      () => api.sql('delete from user_memberships where user_id = $1', [person.userId]),
    ],
  ])('%s sends nothing after five seconds', async (_name, end) => {
    const headers = await bearer()
    expect((await send(headers)).status).toBe(201)
    await end()
    await expect.poll(async () => (await send(headers)).status, { timeout: 60_000 }).toBe(401)
  })

  test('that is forged, or sent beside a key, is refused with the way to a good one', async () => {
    await refused({ authorization: 'Bearer x' }, 401, 'UNAUTHORISED')
    await refused({ authorization: 'Basic eDp5' }, 401, 'UNAUTHORISED')
    const nobody = await send({})
    expect(nobody.status).toBe(401)
    expect(nobody.headers['www-authenticate']).toContain('resource_metadata=')
    expect((await send(await bearer({}, { 'x-api-key': api.tenants.aLive.key }))).status).toBe(400)
  })

  test('makes what is missing with DYNAMIC validation, when its user may', async () => {
    const dynamic = (name: string) =>
      event({ meter_reference: name, meter_values: [{ reference: `${name}.value`, number: '1' }] })
    const path = '/v1/events/ingest?meter_validation=DYNAMIC'
    const name = api.tenants.aLive.seed.unique('dynamic')
    expect((await send(await bearer(), dynamic(name), path)).status).toBe(201)
    expect((await api.tenants.aLive.call('GET', `/v1/meters/${name}`)).status).toBe(200)
    const [notice] = await api.sql(
      `select actor_id from outbox where type = 'METER.CREATED' and data->>'reference' = $1`,
      [name],
    )
    expect(notice).toEqual({ actor_id: person.userId })
  })

  test('goes on when the key of the api was ended behind its back', async () => {
    await send(await bearer())
    const key = keySent()
    await api.sql(`update api_keys set revoked_at = now() where display_prefix = $1`, [key.slice(0, 26)])
    await expect.poll(async () => (await toGateway({ 'x-api-key': key })).status, { timeout: 60_000 }).toBe(401)
    expect((await send(await bearer())).status).toBe(201)
    expect(keySent()).not.toBe(key)
  })
})

describe('a PROXY key', () => {
  test('sends events for a user on its list while that user may, and never shows the gateway its own text', async () => {
    const headers = { 'x-api-key': await proxyKey(), 'x-original-user': person.userId }
    expect((await send(headers)).status).toBe(201)
    expect(sent.flat()).not.toContain(headers['x-api-key'])
    expect(sent.flat()).not.toContain('x-original-user')
    await setRole('role_viewer')
    await expect.poll(async () => (await send(headers)).status, { timeout: 60_000 }).toBe(403)
  })

  test('is refused for a user it does not reach', async () => {
    const stranger = await rig.person()
    await refused({ 'x-api-key': await proxyKey(), 'x-original-user': stranger.userId }, 403, 'USER_NOT_ALLOWED')
  })

  test('acts for itself without the header', async () => {
    const text = await proxyKey()
    expect((await send({ 'x-api-key': text })).status).toBe(201)
    expect(keySent()).toBe(text)
  })
})

test('the header on a key of another type is refused, and nothing is sent', async () => {
  await refused({ 'x-api-key': api.tenants.aLive.key, 'x-original-user': person.userId }, 403, 'USER_NOT_ALLOWED')
})

test('a key of another environment than X-ENVIRONMENT names sends nothing', async () => {
  await refused({ 'x-api-key': api.tenants.aLive.key, 'x-environment': 'TEST' }, 401, 'UNAUTHORISED')
})

describe('the gateway itself', () => {
  test('refuses a key within five seconds after it was ended at the api', async () => {
    const { id, api_key: text } = (await api.tenants.aLive.call('POST', '/v1/api-keys', { role_type: 'ADMINISTRATOR' }))
      .body
    expect((await toGateway({ 'x-api-key': text })).status).toBe(201)
    await api.tenants.aLive.call('POST', `/v1/api-keys/${id}/revoke`)
    await expect.poll(async () => (await toGateway({ 'x-api-key': text })).status, { timeout: 60_000 }).toBe(401)
  })

  test('takes no bearer token, and says where they are taken', async () => {
    const answer = await toGateway(await bearer())
    expect([answer.status, answer.body['code']]).toEqual([401, 'UNAUTHORISED'])
    expect(answer.body['message']).toMatch(/bearer tokens .*base_url/)
  })

  test('lets no key act for a user', async () => {
    const answer = await toGateway({ 'x-api-key': await proxyKey(), 'x-original-user': person.userId })
    expect([answer.status, answer.body['field']]).toEqual([403, 'X-ORIGINAL-USER'])
    const plain = { 'x-api-key': api.tenants.aLive.key }
    const other = await toGateway({ ...plain, 'x-original-user': person.userId })
    expect([other.status, other.body['field']]).toEqual([403, 'X-ORIGINAL-USER'])
    expect((await toGateway({ ...plain, 'x-original-user': '' })).status).toBe(400)
  })

  test('takes no key of another platform or environment than the headers name', async () => {
    const plain = { 'x-api-key': api.tenants.aLive.key }
    const { platformId } = api.tenants.aLive.tenant
    const own = { 'x-platform-id': platformId, 'x-environment': 'LIVE' }
    expect((await toGateway({ ...plain, ...own })).status).toBe(201)
    for (const other of [{ 'x-environment': 'TEST' }, { 'x-platform-id': api.tenants.bLive.tenant.platformId }])
      expect((await toGateway({ ...plain, ...other })).status).toBe(401)
  })

  test('says when keys were used, once it stops or after a minute', async () => {
    const made = await api.tenants.aLive.call('POST', '/v1/api-keys', { role_type: 'ADMINISTRATOR' })
    const settings = {
      PORT: '0',
      METRICS_PORT: '0',
      DATABASE_URL: loginOf(api.databaseUrl, 'millrace_gateway'),
      NATS_URL: nats.url,
      PARTITIONS: '2',
      DURABILITY: 'local',
    }
    const other = await startGateway(ingestConfig(settings), silentLogger)
    for (let each = 0; each < 3; each += 1) {
      const response = await fetch(`http://127.0.0.1:${other.port}/v1/events/ingest`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': made.body['api_key'],
        },
        body: JSON.stringify(event()),
      })
      expect(response.status).toBe(201)
    }
    await other.stop()
    const { id } = made.body
    const shown = (await api.tenants.aLive.call('GET', `/v1/api-keys/${id}`)).body
    expect(Date.parse(shown['last_used_at'])).toBeGreaterThan(Date.now() - 60_000)
  })
})
