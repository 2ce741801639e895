// The answer from roll-ups equals the answer from raw rows and a plain model of the rules, whatever was sent, repeated,
// deleted or late, and however much of it was rolled up.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Aggregator } from '../aggregator/aggregator.ts'
import { findStaleBuckets, rollBuckets } from '../aggregator/rollups/roll-buckets.ts'
import {
  createTestAggregator,
  deleteLineOf,
  eventLineOf,
  TEST_PLATFORM,
  type TestAggregator,
  type TestEvent,
} from '../aggregator/testing.ts'
import { queryUsage, type UsageCalculation, type UsageQuery } from '../api/usage/query-usage.ts'
import type { PropertyCondition } from '../api/usage/usage-sql.ts'
import { type Decimal, decimal, decimalOfInteger, max, min, plain, sum } from '../shared/decimal.ts'
import { createTestClickHouse, type TestClickHouse } from '../shared/testing/clickhouse.ts'
import { startTestNats, type TestNats } from '../shared/testing/nats.ts'
import { instantOf, interval } from '../shared/time.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 30, 22)
const HOURS = 30
/** A key that would break out of a quoted text. */
const BOB = "b'o\\b\n\t\u0000,)] \u{1f600}"
const tenant = { platformId: TEST_PLATFORM, environment: 'TEST' as const }

let nats: TestNats
let clickhouse: TestClickHouse
let aggregator: TestAggregator
let running: Aggregator

beforeAll(async () => {
  nats = await startTestNats()
  clickhouse = await createTestClickHouse()
  aggregator = await createTestAggregator({ natsUrl: nats.url, clickhouse })
  running = await aggregator.start()
})
afterAll(async () => {
  await running.stop()
  await aggregator.close()
  await nats.stop()
  await clickhouse.drop()
})

let state = 20260131
const random = (below: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return (state >>> 8) % below
}
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T

const randomEvent = (reference: string): TestEvent => ({
  reference,
  customerKey: pick(['alice', 'cust_alice', BOB]),
  timestampMs: START + random(HOURS * HOUR),
  quantity: pick(['1', '-2.5', '0.000000000001', '99999999999999999999999999.999999999999', '0', '1234.5']),
  currency: pick(['', '', 'EUR', 'USD']),
  properties: pick([{}, { model: 'a' }, { model: 'b' }, { model: 'a', region: 'x' }, { region: '', model: 'c' }]),
})

/** The model: what counts now, by reference. */
const counted = new Map<string, TestEvent>()
const sent = new Set<string>()

async function sendSome(count: number): Promise<void> {
  const lines: { line: string; idHash: string }[] = []
  for (let turn = 0; turn < count; turn += 1) {
    const event = randomEvent(`ref-${random(count * 2)}-${random(3)}`)
    if (random(12) === 0 && sent.size > 0) {
      const victim = { reference: pick([...sent]) }
      lines.push(deleteLineOf(victim))
      counted.delete(victim.reference)
      continue
    }
    lines.push(eventLineOf(event))
    if (sent.has(event.reference)) continue
    sent.add(event.reference)
    counted.set(event.reference, event)
  }
  for (let at = 0; at < lines.length; at += 50) await aggregator.publish(lines.slice(at, at + 50))
  await aggregator.settle()
}

const holds = (properties: Record<string, string>, { propertyReference, comparator, values }: PropertyCondition) => {
  const value = properties[propertyReference]
  const within = value !== undefined && values.includes(value)
  return comparator === 'EQUALS' || comparator === 'IN' ? within : !within
}

type Answer = { currency: string | null; number: string; count: number }[]

function model({ customerKeys, interval: within, calculation, conditions = [] }: UsageQuery): Answer {
  const events = [...counted.values()].filter(
    ({ customerKey = '', timestampMs = 0, properties = {} }) =>
      customerKeys.includes(customerKey) &&
      within.start <= timestampMs &&
      timestampMs < within.end &&
      conditions.every(condition => holds(properties, condition)),
  )
  if (calculation.type === 'UNIQUE') {
    const values = events.flatMap(({ properties = {} }) => properties[calculation.propertyReference] ?? [])
    if (values.length === 0) return []
    return [{ currency: null, number: String(new Set(values).size), count: values.length }]
  }
  const byCurrency = groupByCurrency(events)
  return [...byCurrency]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, list]) => {
      const values = list.map(({ quantity = '' }) => decimal(quantity))
      return {
        currency: currency === '' ? null : currency,
        number: plain(calculate(calculation.type, values)),
        count: list.length,
      }
    })
}

function groupByCurrency(events: readonly TestEvent[]): Map<string, TestEvent[]> {
  const groups = new Map<string, TestEvent[]>()
  for (const event of events) {
    const currency = event.currency ?? ''
    groups.set(currency, [...(groups.get(currency) ?? []), event])
  }
  return groups
}

function calculate(type: Exclude<UsageCalculation['type'], 'UNIQUE'>, values: Decimal[]): Decimal {
  switch (type) {
    case 'SUM':
      return sum(values)
    case 'MAX':
      return values.reduce(max)
    case 'MIN':
      return values.reduce(min)
    case 'AVERAGE':
      return sum(values).div(decimalOfInteger(values.length))
  }
}

function randomQuery(): UsageQuery {
  const whole = random(3) === 0
  const from = START + (whole ? random(HOURS) * HOUR : random(HOURS * HOUR))
  const length = whole ? (1 + random(HOURS)) * HOUR : 1 + random(HOURS * HOUR)
  const type = pick(['SUM', 'MAX', 'MIN', 'AVERAGE', 'UNIQUE'] as const)
  const comparator = pick(['EQUALS', 'NOT_EQUALS', 'IN', 'NOT_IN'] as const)
  const values = comparator === 'IN' || comparator === 'NOT_IN' ? ['a', 'c'] : [pick(['a', 'x', ''])]
  return {
    tenant,
    customerKeys: pick([['alice', 'cust_alice'], [BOB], ['nobody'], ['alice', 'cust_alice', BOB]]),
    meterReference: 'requests',
    interval: interval(instantOf(from), instantOf(from + length)),
    calculation: type === 'UNIQUE' ? { type, propertyReference: 'model' } : { type, valueReference: 'tokens' },
    conditions: random(2) === 0 ? [] : [{ propertyReference: pick(['model', 'region']), comparator, values }],
  }
}

const ask = async (query: UsageQuery): Promise<Answer> =>
  (await queryUsage(aggregator.client, query)).map(({ currency, number, count }) => ({
    currency,
    number: plain(number),
    count,
  }))

async function compareMany(times: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) {
    const query = randomQuery()
    const expected = model(query)
    expect(await ask({ ...query, source: 'RAW' }), JSON.stringify(query)).toEqual(expected)
    expect(await ask(query), JSON.stringify(query)).toEqual(expected)
  }
}

const everything: UsageQuery = {
  tenant,
  customerKeys: ['alice', 'cust_alice', BOB],
  meterReference: 'requests',
  interval: interval(instantOf(START), instantOf(START + HOURS * HOUR)),
  calculation: { type: 'SUM', valueReference: 'tokens' },
}

describe('usage', () => {
  test('is the same from raw rows, from roll-ups and from the model, at every stage of rolling up', async () => {
    await sendSome(400)
    await compareMany(10)
    await rollBuckets(aggregator.client, await findStaleBuckets(aggregator.client, 40))
    await compareMany(25)
    // Late events, repeats and deletions into buckets that are rolled up already.
    await sendSome(60)
    await compareMany(25)
    await rollBuckets(aggregator.client, await findStaleBuckets(aggregator.client, 10_000))
    expect(await findStaleBuckets(aggregator.client, 10)).toEqual([])
    await compareMany(25)
  })

  test('of one tenant is invisible to another, and TEST to LIVE', async () => {
    expect((await ask(everything)).length).toBeGreaterThan(0)
    expect(await ask({ ...everything, tenant: { ...tenant, environment: 'LIVE' } })).toEqual([])
    expect(await ask({ ...everything, tenant: { ...tenant, platformId: 'plat_0000000000000000000002' } })).toEqual([])
  })

  test('goes back to raw rows for a bucket as soon as it is touched, and a bucket all deleted becomes empty', async () => {
    const lone = { reference: 'lone', customerKey: 'lone', timestampMs: START + 5 * HOUR, quantity: '3' }
    const query = { ...everything, customerKeys: ['lone'] }
    await aggregator.publish([eventLineOf(lone)])
    await aggregator.settle()
    await rollBuckets(aggregator.client, await findStaleBuckets(aggregator.client, 10_000))
    expect(await ask(query)).toEqual([{ currency: null, number: '3', count: 1 }])
    await aggregator.publish([deleteLineOf(lone)])
    await aggregator.settle()
    expect(await ask(query)).toEqual([])
    expect(await findStaleBuckets(aggregator.client, 10)).toHaveLength(1)
    await rollBuckets(aggregator.client, await findStaleBuckets(aggregator.client, 10_000))
    expect(await ask(query)).toEqual([])
    expect(await findStaleBuckets(aggregator.client, 10)).toEqual([])
  })

  test('really is read from roll-ups where they are settled', async () => {
    // Nobody must recompute a bucket from the emptied table.
    await running.stop()
    await rollBuckets(aggregator.client, await findStaleBuckets(aggregator.client, 10_000))
    const before = await ask(everything)
    await aggregator.client.command({ query: 'TRUNCATE TABLE usage_events' })
    expect(await ask({ ...everything, source: 'RAW' })).toEqual([])
    expect(await ask(everything)).toEqual(before)
  })
})
