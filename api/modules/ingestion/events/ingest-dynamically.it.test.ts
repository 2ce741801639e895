// meter_validation=DYNAMIC through the api, with the real gateway behind it: what events name is there when they are taken.

import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingestConfig } from '../../../../ingest/config.ts'
import { type Gateway, startGateway } from '../../../../ingest/gateway.ts'
import { silentLogger } from '../../../../shared/process/logger.ts'
import { loginOf } from '../../../../shared/testing/database-logins.ts'
import { startTestNats, type TestNats } from '../../../../shared/testing/nats.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'

let nats: TestNats
let api: ApiHarness
let gateway: Gateway
let pool: Pool
let tenant: TestTenant
/** Requests the gateway was sent. */
let asked = 0

beforeAll(async () => {
  nats = await startTestNats()
  // The gateway needs the database of the api that forwards to it, so its address is known only afterwards.
  const dispatcher = {
    request: (...options: Parameters<Pool['request']>) => {
      asked += 1
      return pool.request(...options)
    },
  } as Pool
  api = await startApi({ gateway: { dispatcher, bodyBytesMax: 262_144 } })
  const settings = {
    PORT: '0',
    METRICS_PORT: '0',
    DATABASE_URL: loginOf(api.databaseUrl, 'millrace_gateway'),
    NATS_URL: nats.url,
    DURABILITY: 'local',
    PARTITIONS: '2',
  }
  gateway = await startGateway(ingestConfig(settings), silentLogger)
  pool = new Pool(`http://127.0.0.1:${gateway.port}`)
  tenant = api.tenants.aLive
})
afterAll(async () => {
  await api.close()
  await pool.close()
  await gateway.stop()
  await nats.stop()
})

const DYNAMIC = '?meter_validation=DYNAMIC'
const names = () => {
  const { unique } = tenant.seed
  return { meter: unique('requests'), tokens: unique('tokens'), cost: unique('cost'), model: unique('model') }
}
type Names = ReturnType<typeof names>
const eventOf = (of: Names, more: object = {}) => ({
  reference: tenant.seed.unique('event'),
  customer_reference: 'acme',
  meter_reference: of.meter,
  timestamp: '2026-03-11T10:00:00Z',
  meter_values: [{ reference: of.tokens, number: '42.5' }],
  meter_properties: [{ reference: of.model, value: 'large' }],
  ...more,
})
const send = (body: unknown, path = '/v1/events/ingest') => tenant.call('POST', `${path}${DYNAMIC}`, body)
const meterOf = (reference: string) => succeed(tenant, 'GET', `/v1/meters/${reference}`)
const countOf = async (...tables: string[]) =>
  (await api.sql(tables.map(table => `select count(*)::int as n from ${table}`).join(' union all '))).map(
    row => row['n'],
  )
const refusalOf = ({ status, body }: { status: number; body: Row }) => [status, body['code'], body['field']]

describe('what is not there is made', () => {
  test('a meter with its value, property and sum, ACTIVE, each with its notice; and asked again it costs one call', async () => {
    const of = names()
    const answer = await send(eventOf(of))
    expect(answer.status).toBe(201)
    const meter = await meterOf(of.meter)
    expect(meter).toMatchObject({
      name: of.meter,
      status: 'ACTIVE',
      meter_values: [{ reference: of.tokens, required: false }],
      meter_properties: [{ reference: of.model, required: false }],
    })
    expect(answer.body).toMatchObject({
      object_type: 'METER_DATA',
      meter_id: meter['id'],
      meter_values: [{ id: meter['meter_values'][0].id, reference: of.tokens, number: '42.5' }],
    })
    expect(await succeed(tenant, 'GET', `/v1/meter-values/${of.tokens}`)).toMatchObject({
      type: 'NUMBER',
      status: 'ACTIVE',
    })
    expect(await succeed(tenant, 'GET', `/v1/meter-properties/${of.model}`)).toMatchObject({
      type: 'STRING',
      status: 'ACTIVE',
    })
    const { data: sums } = await succeed(tenant, 'GET', `/v1/meter-value-calculations?meter_id=${meter['id']}`)
    expect(sums).toMatchObject([
      { reference: of.tokens, calculation_type: 'SUM', meter_value_id: meter['meter_values'][0].id },
    ])
    const notices = await api.sql(`select type from outbox where data ->> 'reference' = any($1) order by type`, [
      Object.values(of),
    ])
    expect(notices.map(row => row['type'])).toEqual([
      'METER.CREATED',
      'METER_PROPERTY.CREATED',
      'METER_VALUE.CREATED',
      'METER_VALUE_CALCULATION.CREATED',
    ])
    asked = 0
    expect((await send(eventOf(of))).status).toBe(201)
    expect(asked).toBe(1)
  })

  test('a value, a property and enum values of a meter that is there, by the settings sent with them', async () => {
    const of = names()
    await send(eventOf(of))
    const settled = (type: string, required = false) => ({ dynamic_validation_settings: { type, required } })
    const size = tenant.seed.unique('size')
    const amount = { quantity: '1.50', currency: 'EUR' }
    const next = (value: string) =>
      eventOf(of, {
        meter_values: [
          { reference: of.tokens, number: '1' },
          { reference: of.cost, amount },
        ],
        meter_properties: [{ reference: size, value, ...settled('ENUM', true) }],
      })
    // The settings of what is there already are ignored.
    const first = {
      ...next('s'),
      meter_values: [
        { reference: of.tokens, number: '1', ...settled('AMOUNT') },
        { reference: of.cost, amount },
      ],
    }
    expect((await send(first)).status).toBe(201)
    expect(await meterOf(of.meter)).toMatchObject({
      meter_values: [{ reference: of.tokens }, { reference: of.cost, required: false }],
      meter_properties: [{ reference: of.model }, { reference: size, required: true }],
    })
    expect(await succeed(tenant, 'GET', `/v1/meter-values/${of.cost}`)).toMatchObject({ type: 'AMOUNT' })
    const batch = { meter_datas: [next('m'), next('l'), next('m')] }
    const answer = await send(batch, '/v1/events/ingest-list')
    expect([answer.status, answer.body['meter_datas'].length]).toEqual([201, 3])
    expect(await succeed(tenant, 'GET', `/v1/meter-properties/${size}`)).toMatchObject({ enum_values: ['s', 'm', 'l'] })
  })

  test('by every path and form, and a value that another meter has is shared', async () => {
    const [of, other] = [names(), names()]
    const list = ['/v1/events/ingest-list', '/v1/events/ingest-batch', '/v1/ingest/meter-datas']
    for (const path of list) expect((await send([eventOf(names())], path)).status).toBe(201)
    expect((await send(eventOf(of), '/v1/ingest/meter-data')).status).toBe(201)
    expect((await send(eventOf({ ...other, tokens: of.tokens }))).status).toBe(201)
    const [one, two] = [await meterOf(of.meter), await meterOf(other.meter)]
    expect(two['meter_values'][0].id).toBe(one['meter_values'][0].id)
    const { data: sums } = await succeed(tenant, 'GET', `/v1/meter-value-calculations?meter_id=${two['id']}`)
    expect(sums).toMatchObject([{ reference: `${other.meter}.${of.tokens}`, calculation_type: 'SUM' }])
  })

  test('once, however many ask for it at the same time', async () => {
    const of = names()
    const calls = Array.from({ length: 12 }, (_, index) =>
      send(
        eventOf(of, {
          meter_values: [
            { reference: of.tokens, number: '1' },
            { reference: `${of.cost}-${index % 3}`, number: '1' },
          ],
        }),
      ),
    )
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 201))
    const { meter_values } = await meterOf(of.meter)
    expect(meter_values.map((entry: Row) => entry['reference']).toSorted()).toEqual(
      [of.tokens, `${of.cost}-0`, `${of.cost}-1`, `${of.cost}-2`].toSorted(),
    )
  })
})

describe('nothing is made', () => {
  const bad: [string, (of: Names) => unknown, unknown[]][] = [
    [
      'for an event without a customer',
      of => eventOf(of, { customer_reference: null }),
      [400, 'MISSING_FIELD', 'customer_reference'],
    ],
    [
      'for a later event without a reference',
      of => [eventOf(of), eventOf(of, { reference: null })],
      [400, 'MISSING_REFERENCE', '1.reference'],
    ],
    [
      'for a later event at no time',
      of => [eventOf(of), eventOf(of, { timestamp: 'now' })],
      [400, 'INVALID_FIELD', '1.timestamp'],
    ],
    [
      'for an event too far ahead',
      of => eventOf(of, { timestamp: '2190-01-01T00:00:00Z' }),
      [400, 'INVALID_FIELD', 'timestamp'],
    ],
    [
      'for a batch that is too large',
      of => Array.from({ length: 51 }, () => eventOf(of)),
      [400, 'INVALID_REQUEST', undefined],
    ],
    [
      'by an id',
      of => eventOf(of, { meter_reference: null, meter_id: 'metr_0000000000000000000001' }),
      [400, 'RESOURCE_NOT_FOUND', 'meter_id'],
    ],
    [
      'under a name with a space',
      of => eventOf(of, { meter_reference: 'a b' }),
      [400, 'INVALID_FIELD', 'meter_reference'],
    ],
    [
      'of an unknown type',
      of =>
        eventOf(of, {
          meter_properties: [{ reference: of.model, value: 'x', dynamic_validation_settings: { type: 'DATE' } }],
        }),
      [400, 'INVALID_FIELD', 'meter_properties.0.dynamic_validation_settings.type'],
    ],
    [
      'of a NUMBER that is none',
      of =>
        eventOf(of, {
          meter_properties: [{ reference: of.model, value: 'x', dynamic_validation_settings: { type: 'NUMBER' } }],
        }),
      [400, 'INVALID_FIELD', 'meter_properties.0.value'],
    ],
    [
      'beyond what one call may make',
      of =>
        eventOf(of, {
          meter_values: Array.from({ length: 101 }, (_, index) => ({
            reference: `${of.tokens}-${index}`,
            number: '1',
          })),
        }),
      [400, 'INVALID_FIELD', 'meter_values'],
    ],
    [
      'for a body with a name twice',
      of =>
        JSON.stringify(
          eventOf(of, { meter_values: [{ reference: of.tokens, number: '1', dynamic_validation_settings: {} }] }),
        ).replace('{', '{"reference":"x",'),
      [400, 'BAD_REQUEST', undefined],
    ],
    ['for what is no JSON', () => '{"reference": ', [400, 'BAD_REQUEST', undefined]],
  ]
  test.each(bad)('%s', async (_name, bodyOf, refusal) => {
    const tables = ['meters', 'meter_values', 'meter_properties', 'meter_value_calculations']
    const before = await countOf(...tables)
    const body = bodyOf(names())
    const answer = await send(body, Array.isArray(body) ? '/v1/events/ingest-list' : '/v1/events/ingest')
    expect(refusalOf(answer)).toEqual(refusal)
    expect(await countOf(...tables)).toEqual(before)
  })

  test('with STATIC, for a meter that is not ACTIVE, for a read-only key or none, and at the gateway', async () => {
    const of = names()
    const event = eventOf(of)
    const before = await countOf('meters')
    for (const query of ['', '?meter_validation=STATIC'])
      expect(refusalOf(await tenant.call('POST', `/v1/events/ingest${query}`, event))).toEqual([
        400,
        'RESOURCE_NOT_FOUND',
        'meter_reference',
      ])
    const nobody = await tenant.call('POST', `/v1/events/ingest${DYNAMIC}`, event, { 'x-api-key': 'nonsense' })
    expect(nobody.status).toBe(401)
    await api.sql(
      `update api_keys set role_type = 'READ_ONLY', updated_at = clock_timestamp() where environment = 'TEST' and platform_id = $1`,
      [api.tenants.aTest.tenant.platformId],
    )
    expect((await api.tenants.aTest.call('POST', `/v1/events/ingest${DYNAMIC}`, event)).status).toBe(403)
    const direct = await fetch(`http://127.0.0.1:${gateway.port}/v1/events/ingest${DYNAMIC}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': tenant.key },
      body: JSON.stringify(event),
    })
    expect([direct.status, ((await direct.json()) as Row)['field']]).toEqual([400, 'meter_validation'])
    expect(await countOf('meters')).toEqual(before)
    await succeed(tenant, 'POST', '/v1/meters', { reference: of.meter, status: 'DRAFT' })
    expect(refusalOf(await send(event))).toEqual([400, 'INVALID_OPERATION', 'meter_reference'])
  })
})
