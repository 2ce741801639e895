// GET /v1/usage gives what invoices bill: the same as the lines of an invoice and as raw SQL, by the hour, day and month of a zone
// whose clocks change, from single events and from roll-ups.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findStaleBuckets, rollBuckets } from '../../../aggregator/rollups/roll-buckets.ts'
import { findStaleDays, rollDays } from '../../../aggregator/rollups/roll-days.ts'
import type { TestEvent } from '../../../aggregator/testing.ts'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type EventsRig, ms, openEventsRig, START } from './rig.ts'

const ZONE = 'Europe/Amsterdam'
const METER = 'calls'
const HOUR = 3_600_000
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

let rig: EventsRig
let tenant: TestTenant
let customer: Row
let subscription: Row
const ids: Record<string, string> = {}
const post = (path: string, body: object) => succeed(tenant, 'POST', `/v1/${path}`, body)

beforeAll(async () => {
  rig = await openEventsRig()
  tenant = rig.tenant
  const value = await post('meter-values', { reference: 'n', name: 'N', type: 'NUMBER', status: 'ACTIVE' })
  const cost = await post('meter-values', { reference: 'cost', name: 'Cost', type: 'AMOUNT', status: 'ACTIVE' })
  const region = await post('meter-properties', {
    reference: 'region',
    name: 'Region',
    type: 'ENUM',
    enum_values: ['eu', 'us', 'ap'],
    status: 'ACTIVE',
  })
  const size = await post('meter-properties', { reference: 'size', name: 'Size', type: 'NUMBER', status: 'ACTIVE' })
  ids['region'] = region['id']
  const meter = await post('meters', {
    reference: METER,
    status: 'ACTIVE',
    meter_values: [{ id: value['id'], required: true }, { id: cost['id'] }],
    meter_properties: [{ id: region['id'], required: true }, { id: size['id'] }],
  })
  const product = await post('products', { reference: 'calls', name: 'Calls', status: 'ACTIVE' })
  const items: object[] = []
  for (const type of ['SUM', 'MAX', 'AVERAGE', 'UNIQUE']) {
    const calculation = await post('meter-value-calculations', {
      reference: `calls_${type.toLowerCase()}`,
      calculation_type: type,
      meter_id: meter['id'],
      ...(type === 'UNIQUE' ? { meter_property_id: region['id'] } : { meter_value_id: value['id'] }),
    })
    ids[type] = calculation['id']
    const item = await post('product-items', {
      reference: `calls_${type.toLowerCase()}`,
      product_id: product['id'],
      name: type,
      status: 'ACTIVE',
      model_type: 'USAGE_BASED',
      usage_based: { meter_value_calculation_id: calculation['id'] },
    })
    items.push({ product_item_ids: [item['id']], configs: [{ pricing_type: 'FLAT', bands: [{ amount: eur('1') }] }] })
  }
  const money = await post('meter-value-calculations', {
    reference: 'calls_cost',
    calculation_type: 'SUM',
    meter_id: meter['id'],
    meter_value_id: cost['id'],
  })
  ids['COST'] = money['id']
  const plan = await post('pricing-plans', { reference: 'calls' })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  await post('pricings', { pricing_plan_version_id: version['id'], product_ids: [product['id']], items })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  const address = { country: 'NL' }
  const entity = await post('billing-entities', { reference: 'nl', timezone: ZONE, registered_address: address })
  customer = await post('customers', {
    reference: 'acme',
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Acme', registered_address: address },
  })
  subscription = await post('pricing-plan-subscriptions', {
    customer_id: customer['id'],
    billing_entity_id: entity['id'],
    billing_currency: 'EUR',
  })
  await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_id: version['id'],
    start_at: '2026-02-28T23:00:00Z',
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' })
  rig.api.clock.set(ms('2026-04-02T00:00:00Z'))
  await rig.send(...events())
}, 120_000)
afterAll(() => rig?.close())

/** Every five hours of March and a little more, at odd minutes, and densely where clocks change; some without a size. */
function events(): TestEvent[] {
  const change = ms('2026-03-28T21:00:00Z')
  const times = [
    ...Array.from({ length: 160 }, (_, index) => ms(START) - 3 * HOUR + index * 5 * HOUR + index * 61_001),
    ...Array.from({ length: 60 }, (_, index) => change + index * 1_799_999),
  ]
  return times.map((timestampMs, index) => ({
    reference: rig.reference(),
    customerKey: index % 3 === 0 ? customer['id'] : customer['reference'],
    meterReference: METER,
    timestampMs,
    values: [
      { reference: 'n', quantity: `${index}.${index % 7}`, currency: '' },
      ...(index % 4 === 0
        ? [{ reference: 'cost', quantity: '0.000000000001', currency: index % 8 ? 'EUR' : 'USD' }]
        : []),
    ],
    properties: { region: ['eu', 'us', 'ap'][index % 3] ?? '', ...(index % 2 ? { size: `${index % 5}.0` } : {}) },
  }))
}

const MARCH = { from: '2026-02-28T23:00:00Z', to: '2026-03-31T22:00:00Z', timezone: ZONE }
type Query = Record<string, string>
const asked = (query: Query): string => `/v1/usage?${new URLSearchParams(query)}`
const usage = async (query: Query): Promise<Row> =>
  await succeed(tenant, 'GET', asked({ customer_id: 'acme', ...MARCH, ...query }))
const field = async (query: Query): Promise<string> => {
  const { status, body } = await tenant.call('GET', asked(query))
  return `${status} ${body['code']} ${body['field']}`
}
const conditions = (...meter_properties: object[]): string => JSON.stringify({ meter_properties })

/** `[start, number, events]` of each bucket that has a quantity. */
const series = ({ data }: Row): unknown[] =>
  data.flatMap((bucket: Row) =>
    bucket['quantities'].map((quantity: Row) => [
      bucket['start'],
      quantity['number'],
      quantity['event_count'],
      ...quantity['meter_properties'].map((property: Row) => property['value']),
    ]),
  )

/** The same by SQL of our own over the raw rows. */
async function bySql(cut: string, more = '', split = ''): Promise<unknown[]> {
  const { platformId, environment } = tenant.tenant
  const rows = await rig.aggregator.rows<[number, string, string, ...string[]]>(
    `SELECT greatest(toUnixTimestamp(${cut}), 1772319600) AS start, toString(sum(value_quantities[indexOf(value_references, 'n')])), toString(count())
       ${split === '' ? '' : `, ${split} AS part`}
     FROM usage_events FINAL
     WHERE platform_id = '${platformId}' AND environment = '${environment}' AND customer_key IN ('acme', '${customer['id']}')
       AND meter_reference = '${METER}' AND deleted = 0
       AND timestamp >= '2026-02-28 23:00:00' AND timestamp < '2026-03-31 22:00:00' ${more}
     GROUP BY start ${split === '' ? '' : ', part'} ORDER BY start ${split === '' ? '' : ', part'}`,
  )
  return rows.map(([start, sum, count, ...parts]) => [
    new Date(start * 1000).toISOString().replace('.000Z', 'Z'),
    sum,
    Number(count),
    ...parts,
  ])
}

const local = (unit: string): string => `toDateTime(toStartOf${unit}(toTimeZone(timestamp, '${ZONE}')), '${ZONE}')`

describe('usage', () => {
  test.each(['single events', 'roll-ups'])('is the same as raw SQL, across a change of clocks, from %s', async from => {
    if (from === 'roll-ups') {
      await rollBuckets(rig.aggregator.client, await findStaleBuckets(rig.aggregator.client, 10_000))
      await rollDays(rig.aggregator.client, await findStaleDays(rig.aggregator.client, 10_000))
    }
    const sum = { meter_value_calculation_id: ids['SUM'] ?? '' }
    for (const [bucket, unit, count] of [
      ['HOUR', 'Hour', 743],
      ['DAY', 'Day', 31],
      ['MONTH', 'Month', 1],
    ] as const) {
      const answer = await usage({ ...sum, bucket })
      expect(answer['data']).toHaveLength(count)
      expect(series(answer)).toEqual(await bySql(local(unit)))
    }
    const days = await usage({ ...sum, bucket: 'DAY' })
    expect(days).toMatchObject({ object_type: 'USAGE', bucket: 'DAY', timezone: ZONE, from: MARCH.from, to: MARCH.to })
    const short = days['data'].find((day: Row) => day['start'] === '2026-03-28T23:00:00Z')
    expect(short['end']).toBe('2026-03-29T22:00:00Z')

    const eu = { reference: 'region', comparator: 'EQUALS', value: 'eu' }
    expect(series(await usage({ ...sum, bucket: 'DAY', conditions: conditions(eu) }))).toEqual(
      await bySql(local('Day'), `AND properties['region'] = 'eu'`),
    )
    expect(series(await usage({ ...sum, bucket: 'MONTH', 'group_by[]': 'region' }))).toEqual(
      await bySql(local('Month'), '', `properties['region']`),
    )
    // Numbers are grouped by their value, and the events without one are a group of their own.
    const bySize = series(await usage({ ...sum, bucket: 'MONTH', 'group_by[]': 'size' }))
    expect(bySize.map(row => (row as unknown[])[3])).toEqual([null, '0', '1', '2', '3', '4'])
  })

  test('is what the invoice of its month bills, by every calculation', async () => {
    await runBilling(rig.billing, tenant.tenant, subscription['id'])
    const { data } = await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${subscription['id']}`)
    const invoices: Row[] = await Promise.all(
      data.map((row: Row) => succeed(tenant, 'GET', `/v1/invoices/${row['id']}`)),
    )
    const march = invoices.find(({ period_start: start }) => start === MARCH.from) ?? {}
    const lines: Row[] = march['periods'].flatMap((period: Row) =>
      period['groups'].flatMap((group: Row) => group['lines']),
    )
    expect(lines).toHaveLength(4)
    const ofSubscription = { from: MARCH.from, to: MARCH.to, pricing_plan_subscription_id: subscription['id'] }
    for (const line of lines) {
      const question = { meter_value_calculation_id: ids[line['description']] ?? '' }
      const whole = await usage(question)
      const number = whole['data'][0].quantities[0].number
      expect(number).toBe(line['meter_value'].number)
      const own = await succeed(tenant, 'GET', asked({ ...question, ...ofSubscription }))
      expect(own['data'][0].quantities[0].number).toBe(number)
    }
    // By days they add up to the line.
    const days = series(await usage({ meter_value_calculation_id: ids['SUM'] ?? '', bucket: 'DAY' })) as [
      string,
      string,
    ][]
    const line = lines.find(({ description }) => description === 'SUM')
    const tenths = days.reduce((total, [, number]) => total + Math.round(Number(number) * 10), 0)
    expect(tenths).toBe(Math.round(Number(line?.['meter_value'].number) * 10))
  })

  test('of a meter shows each of its calculations, and amounts by currency', async () => {
    const [whole] = (await usage({ meter_id: METER }))['data']
    const shown = new Set(whole.quantities.map((quantity: Row) => quantity['meter_value_calculation_id']))
    expect(shown).toEqual(new Set(Object.entries(ids).flatMap(([name, id]) => (name === 'region' ? [] : [id]))))
    const money = whole.quantities.filter((quantity: Row) => quantity['meter_value_calculation_id'] === ids['COST'])
    expect(money).toMatchObject([
      { number: null, amount: { currency: 'EUR' }, meter_properties: [] },
      { number: null, amount: { currency: 'USD' }, meter_properties: [] },
    ])
  })

  test('of a meter by the day counts different values too, and any part of a second as the whole second', async () => {
    const days = (await usage({ meter_id: METER, bucket: 'DAY' }))['data']
    const unique = ids['UNIQUE'] ?? ''
    const alone = (await usage({ meter_value_calculation_id: unique, bucket: 'DAY' }))['data']
    const own = (bucket: Row) =>
      bucket['quantities'].filter((each: Row) => each['meter_value_calculation_id'] === unique)
    expect(days).toHaveLength(31)
    expect(days.map(own)).toEqual(alone.map(own))

    const parts = { from: MARCH.from.replace('Z', '.900Z'), to: MARCH.to.replace('Z', '.900Z') }
    expect(await usage({ meter_id: METER, ...parts })).toMatchObject({
      data: (await usage({ meter_id: METER }))['data'],
    })
  })

  test('says what is wrong with a question by the name of the parameter', async () => {
    const sum = { meter_value_calculation_id: ids['SUM'] ?? '' }
    const ok = { customer_id: 'acme', from: MARCH.from, to: MARCH.to, ...sum }
    const tested = (test: object) => field({ ...ok, conditions: conditions(test) })
    const wrong: [Query, string][] = [
      [{ ...ok, to: ok.from }, '400 INVALID_FIELD to'],
      [{ ...ok, from: 'yesterday' }, '400 INVALID_FIELD from'],
      [{ customer_id: 'acme', to: ok.to, ...sum }, '400 MISSING_FIELD from'],
      [{ ...ok, bucket: 'WEEK' }, '400 INVALID_FIELD bucket'],
      [{ ...ok, bucket: 'HOUR', to: '2026-04-30T00:00:00Z' }, '400 INVALID_FIELD bucket'],
      [{ ...ok, timezone: 'Mars/Olympus' }, '400 INVALID_FIELD timezone'],
      [{ ...ok, meter_id: METER }, '400 INVALID_FIELD meter_id'],
      [{ from: ok.from, to: ok.to, customer_id: 'acme' }, '400 MISSING_FIELD meter_value_calculation_id'],
      [{ from: ok.from, to: ok.to, ...sum }, '400 MISSING_FIELD customer_id'],
      [{ ...ok, customer_id: 'nobody' }, '404 RESOURCE_NOT_FOUND customer_id'],
      [{ ...ok, meter_value_calculation_id: 'bmet_x' }, '404 RESOURCE_NOT_FOUND meter_value_calculation_id'],
      [{ ...ok, pricing_plan_subscription_id: 'x' }, '400 INVALID_FIELD pricing_plan_subscription_id'],
      [{ ...ok, 'group_by[]': 'color' }, '400 INVALID_FIELD group_by[].0'],
      [{ ...ok, meter_value_calculation_id: ids['UNIQUE'] ?? '', bucket: 'HOUR' }, '400 INVALID_FIELD bucket'],
      [{ ...ok, conditions: '{' }, '400 INVALID_FIELD conditions'],
      [{ ...ok, conditions: '[]' }, '400 INVALID_FIELD conditions'],
      [{ ...ok, conditions: '{"meter_properties":[],"meter_properties":[]}' }, '400 INVALID_FIELD conditions'],
      [{ ...ok, conditions: '{"colour":1}' }, '400 INVALID_FIELD conditions.colour'],
      [{ ...ok, color: 'red' }, '400 INVALID_FIELD color'],
    ]
    for (const [query, expected] of wrong) expect(`${JSON.stringify(query)} ${await field(query)}`).toContain(expected)
    const at = 'conditions.meter_properties.0'
    expect(await tested({ reference: 'color', comparator: 'EMPTY' })).toBe(`404 RESOURCE_NOT_FOUND ${at}.reference`)
    expect(await tested({ reference: 'region', comparator: 'EQUALS', value: 'mars' })).toBe(
      `400 INVALID_FIELD ${at}.value`,
    )
    expect(await tested({ reference: 'region', comparator: 'GREATER_THAN', value: '1' })).toBe(
      `400 INVALID_FIELD ${at}.comparator`,
    )
  })

  test('has a bound on its quantities', async () => {
    const sum = {
      meter_value_calculation_id: ids['SUM'] ?? '',
      from: '2023-08-01T00:00:00Z',
      to: '2026-04-01T00:00:00Z',
    }
    const many = Array.from({ length: 12 }, (_, index) => ({
      reference: rig.reference(),
      customerKey: 'acme',
      meterReference: METER,
      timestampMs: ms('2023-09-01T12:00:00Z'),
      values: [{ reference: 'n', quantity: '1', currency: '' }],
      properties: { region: 'eu', size: String(index) },
    }))
    await rig.send(...many)
    // 975 days leave each at most ten.
    const question = { customer_id: 'acme', ...sum, bucket: 'DAY', 'group_by[]': 'size' }
    expect(await field(question)).toBe('400 INVALID_OPERATION group_by[]')
    expect((await tenant.call('GET', asked({ ...question, bucket: 'MONTH' }))).status).toBe(200)
  })
})
