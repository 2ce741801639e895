// The answer from roll-ups equals the answer from raw rows and a plain model of the rules, whatever was sent, repeated,
// deleted or late, whatever is asked, and however much of it was rolled up.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Aggregator } from '../../aggregator/aggregator.ts'
import { findStaleBuckets, rollBuckets } from '../../aggregator/rollups/roll-buckets.ts'
import { findStaleDays, rollDays } from '../../aggregator/rollups/roll-days.ts'
import { COMBINATIONS_MAX } from '../../aggregator/rollups/rollup-sql.ts'
import {
  createTestAggregator,
  deleteLineOf,
  eventLineOf,
  TEST_PLATFORM,
  type TestAggregator,
  type TestEvent,
} from '../../aggregator/testing.ts'
import { type Answer as Answered, QUANTITIES_MAX, queryUsages } from '../../api/usage/query/query-usages.ts'
import type { UsageCalculation, UsageQuery } from '../../api/usage/usage-query.ts'
import { SELECTOR_KEY } from '../../shared/attribution/selector.ts'
import { addDays, localDateOf, startOfLocalDay, type Zone, zoneOf } from '../../shared/billing/local-days.ts'
import { type Decimal, decimal, decimalOfInteger, max, min, plain, sum } from '../../shared/decimal.ts'
import { AppError } from '../../shared/errors.ts'
import { createTestClickHouse, type TestClickHouse } from '../../shared/testing/clickhouse.ts'
import { anyCondition, anyProperties, anyProperty } from '../../shared/testing/conditions.ts'
import { startTestNats, type TestNats } from '../../shared/testing/nats.ts'
import { contains, type Interval, instantOf, interval } from '../../shared/time.ts'
import { distinctText, matcherOf } from '../../shared/usage/condition.ts'

const HOUR = 3_600_000
/** Clocks change within it in Amsterdam (an hour, 29 March) and on Lord Howe Island (half an hour, 5 April). */
const START = Date.UTC(2026, 2, 27, 22)
const HOURS = 9 * 24
/** A key that would break out of a quoted text. */
const BOB = "b'o\\b\n\t\u0000,)] \u{1f600}"
const CUSTOMERS = ['alice', 'cust_alice', BOB]
const SUBSCRIPTIONS = ['', '', 'id:1', "ref:it's", `${SELECTOR_KEY}{}`]
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

const anyValue = fc.record({
  reference: fc.constantFrom('tokens', 'calls'),
  quantity: fc.constantFrom('1', '-2.5', '0.000000000001', '99999999999999999999999999.999999999999', '0', '1234.5'),
  currency: fc.constantFrom('', '', 'EUR', 'USD'),
})
/** A day, at most, of the hours busy enough that days are rolled up; times to the millisecond, many on the hour. */
const anyTime = fc
  .tuple(fc.integer({ min: 0, max: HOURS - 1 }), fc.constantFrom(0, 1, HOUR / 2, HOUR - 1, 1234567))
  .map(([hour, ms]) => START + hour * HOUR + ms)
const anyEvent: fc.Arbitrary<TestEvent> = fc.record({
  reference: fc.integer({ min: 0, max: 4_000 }).map(n => `ref-${n}`),
  customerKey: fc.constantFrom(...CUSTOMERS),
  timestampMs: anyTime,
  values: fc.uniqueArray(anyValue, { maxLength: 2, selector: ({ reference }) => reference }),
  properties: anyProperties,
  subscription: fc.constantFrom(...SUBSCRIPTIONS),
})
const anyRecord = fc.oneof(
  { weight: 11, arbitrary: anyEvent.map(event => ({ event, deleted: null })) },
  { weight: 1, arbitrary: fc.nat().map(pick => ({ event: null, deleted: pick })) },
)

/** The model: what counts now, by reference. */
const counted = new Map<string, TestEvent>()
const sent = new Set<string>()

/** Sends events of any age; some are repeats with other content, some deletions. */
async function send(count: number, seed: number): Promise<void> {
  const lines: { line: string; idHash: string }[] = []
  for (const { event, deleted } of fc.sample(anyRecord, { numRuns: count, seed })) {
    const victim = deleted === null ? undefined : [...sent][deleted % Math.max(1, sent.size)]
    if (victim !== undefined) {
      lines.push(deleteLineOf({ reference: victim }))
      counted.delete(victim)
    } else if (event !== null) {
      lines.push(eventLineOf(event))
      if (!sent.has(event.reference)) counted.set(event.reference, event)
      sent.add(event.reference)
    }
  }
  for (let at = 0; at < lines.length; at += 50) await aggregator.publish(lines.slice(at, at + 50))
  await aggregator.settle()
}

type Answer = { currency: string | null; subscription: string | null; split: string; number: string; count: number }
type Item = { readonly event: TestEvent; readonly currency: string; readonly item: string }

/** What the rules say, from the events themselves. */
function model(query: UsageQuery): Answer[] {
  const { customerKeys, interval: within, calculation, condition, splitBy = [], groupBySubscription } = query
  const holds = condition === undefined ? () => true : matcherOf(condition)
  const groups = new Map<string, Item[]>()
  for (const event of counted.values()) {
    const { customerKey = '', timestampMs = 0, properties = {}, subscription = '' } = event
    if (!customerKeys.includes(customerKey) || !contains(within, instantOf(timestampMs)) || !holds(properties)) continue
    if (!asksFor(query, subscription)) continue
    const split = splitBy.map(({ reference, type }) => {
      const value = properties[reference]
      return value === undefined ? null : distinctText(type, value)
    })
    for (const item of itemsOf(event, calculation)) {
      const key = JSON.stringify([item.currency, groupBySubscription ? subscription : null, split])
      groups.set(key, [...(groups.get(key) ?? []), item])
    }
  }
  return [...groups].map(([key, items]) => {
    const [currency, subscription, split] = JSON.parse(key)
    const number = calculate(calculation.type, items)
    return { currency: currency || null, subscription, split: JSON.stringify(split), number, count: items.length }
  })
}

const asksFor = ({ askingFor }: UsageQuery, subscription: string): boolean =>
  askingFor === undefined ||
  askingFor.keys.includes(subscription) ||
  (askingFor.orSelector && subscription.startsWith(SELECTOR_KEY))

function itemsOf(event: TestEvent, calculation: UsageCalculation): Item[] {
  if (calculation.type === 'UNIQUE') {
    const value = event.properties?.[calculation.property.reference]
    return value === undefined ? [] : [{ event, currency: '', item: distinctText(calculation.property.type, value) }]
  }
  const values = (event.values ?? []).filter(({ reference }) => reference === calculation.valueReference)
  return values.map(({ currency, quantity }) => ({ event, currency, item: quantity }))
}

function calculate(type: UsageCalculation['type'], items: readonly Item[]): string {
  if (type === 'UNIQUE') return String(new Set(items.map(({ item }) => item)).size)
  return plain(
    calculateValues(
      type,
      items.map(({ item }) => decimal(item)),
    ),
  )
}

function calculateValues(type: Exclude<UsageCalculation['type'], 'UNIQUE'>, values: Decimal[]): Decimal {
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

/** From the earlier to the later; an hour when they are the same. */
const span = (from: number, to: number): Interval =>
  interval(instantOf(Math.min(from, to)), instantOf(from === to ? from + HOUR : Math.max(from, to)))
const inMs = fc.integer({ min: START - HOUR, max: START + (HOURS + 1) * HOUR })
const onTheHour = fc.integer({ min: -1, max: HOURS + 1 }).map(hour => START + hour * HOUR)
const anyZone = fc.constantFrom('UTC', 'Europe/Amsterdam', 'Australia/Lord_Howe', 'Asia/Kolkata', 'America/St_Johns')
const localDays = fc.tuple(anyZone, fc.nat({ max: 9 }), fc.nat({ max: 9 })).map(([zone, from, to]): Interval => {
  const at = (days: number): number =>
    startOfLocalDay(addDays(localDateOf(instantOf(START), zoned(zone)), days), zoned(zone))
  return span(at(from), at(to))
})
function zoned(name: string): Zone {
  const zone = zoneOf(name)
  if (zone === null) throw new Error(`${name} is no zone`)
  return zone
}

const anyCalculation: fc.Arbitrary<UsageCalculation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom('SUM' as const, 'MAX' as const, 'MIN' as const, 'AVERAGE' as const),
      valueReference: fc.constantFrom('tokens', 'calls'),
    }),
  },
  { weight: 2, arbitrary: anyProperty.map(property => ({ type: 'UNIQUE' as const, property })) },
)
const anyQuery: fc.Arbitrary<UsageQuery> = fc
  .record({
    customerKeys: fc.constantFrom(['alice', 'cust_alice'], [BOB], ['nobody'], CUSTOMERS),
    interval: fc.oneof(
      fc.tuple(inMs, inMs).map(([from, to]) => span(from, to)),
      fc.tuple(onTheHour, onTheHour).map(([from, to]) => span(from, to)),
      localDays,
      fc.constant(span(START, START + HOURS * HOUR)),
    ),
    calculation: anyCalculation,
    condition: fc.option(anyCondition, { nil: undefined }),
    splitBy: fc.oneof(fc.constant([]), fc.uniqueArray(anyProperty, { maxLength: 2 })),
    groupBySubscription: fc.option(fc.constant(true as const), { nil: undefined }),
    askingFor: fc.option(fc.record({ keys: fc.subarray(['', 'id:1', "ref:it's", 'id:2']), orSelector: fc.boolean() }), {
      nil: undefined,
    }),
  })
  .map(({ condition, groupBySubscription, askingFor, ...query }) => ({
    tenant,
    meterReference: 'requests',
    ...query,
    ...(condition === undefined ? {} : { condition }),
    ...(groupBySubscription === undefined ? {} : { groupBySubscription }),
    ...(askingFor === undefined ? {} : { askingFor }),
  }))

/** The answers to questions that are asked at once. */
const askAll = async (queries: readonly UsageQuery[]): Promise<Answer[][]> =>
  (await queryUsages(aggregator.client, queries)).map(shown)

function shown(answer: Answered): Answer[] {
  if (answer instanceof AppError) throw answer
  return answer.map(({ number, split, values, ...rest }) => {
    if (values) expect(plain(number)).toBe(String(values.length))
    return { ...rest, split: JSON.stringify(split), number: plain(number) }
  })
}

const ask = async (query: UsageQuery): Promise<Answer[]> => (await askAll([query]))[0] ?? []

const sorted = (answers: readonly Answer[]): string[] =>
  answers.map(each => JSON.stringify(Object.entries(each).sort())).sort()

const FROM_ROLLUPS = [{ source: 'ROLLED' }, { source: 'LISTED' }] as const
/** What rows alone answer is compared where they have changed or been merged, not again whenever more of them is rolled up. */
const FROM_EVERYWHERE = [{ source: 'RAW' }, {}, ...FROM_ROLLUPS] as const

/** Batches of up to eight questions. Events and questions are others in every run of the tests, so that many runs ask of all. */
async function compareMany(numRuns: number, from: typeof FROM_EVERYWHERE | typeof FROM_ROLLUPS): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(anyQuery, { minLength: 1, maxLength: 8 }), async queries => {
      const expected = queries.map(query => sorted(model(query)))
      for (const source of from) {
        const answers = await askAll(queries.map(query => ({ ...query, ...source })))
        expect(answers.map(sorted), JSON.stringify(source)).toEqual(expected)
      }
    }),
    { numRuns },
  )
}

const rollAll = async () => {
  await rollBuckets(aggregator.client, await findStaleBuckets(aggregator.client, 10_000))
  expect(await findStaleBuckets(aggregator.client, 10)).toEqual([])
}
const rollAllDays = async () => {
  await rollDays(aggregator.client, await findStaleDays(aggregator.client, 10_000))
  expect(await findStaleDays(aggregator.client, 10)).toEqual([])
}

const everything: UsageQuery = {
  tenant,
  customerKeys: CUSTOMERS,
  meterReference: 'requests',
  interval: span(START, START + HOURS * HOUR),
  calculation: { type: 'SUM', valueReference: 'tokens' },
}

describe('usage', () => {
  const seed = Date.now() % 1_000_000
  test(`equals the model, read from raw rows whenever they change and from roll-ups at every stage of rolling up (events of seed ${seed})`, async () => {
    await send(1_500, seed)
    await compareMany(4, FROM_EVERYWHERE)
    await rollBuckets(aggregator.client, await findStaleBuckets(aggregator.client, 300))
    await compareMany(4, FROM_ROLLUPS)
    await rollAll()
    await compareMany(4, FROM_ROLLUPS)
    await rollAllDays()
    expect(await aggregator.rows(`SELECT count() > 5 FROM usage_rollups_by_grain FINAL WHERE grain = 'DAY'`)).toEqual([
      [1],
    ])
    await compareMany(5, FROM_ROLLUPS)
    // Late events, repeats and deletions into hours and days that are rolled up already.
    await send(150, seed + 1)
    await compareMany(7, FROM_EVERYWHERE)
    await rollBuckets(aggregator.client, await findStaleBuckets(aggregator.client, 40))
    await compareMany(4, FROM_ROLLUPS)
    await rollAll()
    await rollAllDays()
    await compareMany(7, FROM_EVERYWHERE)
  }, 600_000)

  test('of one tenant is invisible to another, and TEST to LIVE', async () => {
    expect((await ask(everything)).length).toBeGreaterThan(0)
    expect(await ask({ ...everything, tenant: { ...tenant, environment: 'LIVE' } })).toEqual([])
    expect(await ask({ ...everything, tenant: { ...tenant, platformId: 'plat_0000000000000000000002' } })).toEqual([])
  })

  test('goes back to raw rows for a bucket as soon as it is touched, and a bucket all deleted becomes empty', async () => {
    const lone = { reference: 'lone', customerKey: 'lone', timestampMs: START + 5 * HOUR, quantity: '3' }
    const query = { ...everything, customerKeys: ['lone'], source: 'LISTED' as const }
    await aggregator.publish([eventLineOf(lone)])
    await aggregator.settle()
    await rollAll()
    expect(await ask(query)).toMatchObject([{ currency: null, number: '3', count: 1 }])
    await aggregator.publish([deleteLineOf(lone)])
    await aggregator.settle()
    expect(await ask(query)).toEqual([])
    expect(await findStaleBuckets(aggregator.client, 10)).toHaveLength(1)
    await rollAll()
    expect(await ask(query)).toEqual([])
  })

  test('that falls into too many parts is refused by name, at the bound and not before', async () => {
    const at = START + 2 * HOUR
    const split = (count: number) => {
      const lines = Array.from({ length: count }, (_, i) =>
        eventLineOf({ reference: `many-${i}`, customerKey: 'many', timestampMs: at, properties: { region: `${i}` } }),
      )
      return lines
    }
    const query: UsageQuery = {
      ...everything,
      customerKeys: ['many'],
      splitBy: [{ reference: 'region', type: 'STRING' }],
    }
    const lines = split(QUANTITIES_MAX + 1)
    for (let from = 0; from < QUANTITIES_MAX; from += 2_000) {
      await aggregator.publish(lines.slice(from, Math.min(from + 2_000, QUANTITIES_MAX)))
    }
    await aggregator.settle()
    expect(await ask(query)).toHaveLength(QUANTITIES_MAX)
    await aggregator.publish(lines.slice(QUANTITIES_MAX))
    await aggregator.settle()
    await expect(ask(query)).rejects.toMatchObject({ code: 'INVALID_OPERATION', message: /10000 quantities by region/ })
  }, 600_000)

  test('an hour with too many combinations keeps its totals, and the rest is read raw', async () => {
    const query = { ...everything, customerKeys: ['wide'], interval: span(START, START + HOUR) }
    const lines = Array.from({ length: COMBINATIONS_MAX + 1 }, (_, i) =>
      eventLineOf({ reference: `wide-${i}`, customerKey: 'wide', timestampMs: START, properties: { region: `${i}` } }),
    )
    for (let from = 0; from < lines.length; from += 2_000) await aggregator.publish(lines.slice(from, from + 2_000))
    await aggregator.settle()
    await rollAll()
    const grains = `SELECT toString(grain), length(events) FROM usage_rollups_by_grain FINAL WHERE customer_key = 'wide'`
    expect(await aggregator.rows(grains)).toEqual([['TOTALS', '1']])
    const property = { reference: 'region', type: 'STRING' as const }
    expect(await ask(query)).toMatchObject([{ number: String(lines.length), count: lines.length }])
    expect(await ask({ ...query, calculation: { type: 'UNIQUE', property } })).toMatchObject([
      { number: String(lines.length) },
    ])
    expect(await ask({ ...query, condition: { property, comparator: 'IN', values: ['7', '1', 'no'] } })).toMatchObject([
      { number: '2' },
    ])
  }, 600_000)

  test('really is read from roll-ups where they are settled', async () => {
    // Nobody must recompute a bucket from the emptied table.
    await running.stop()
    await rollAll()
    await rollAllDays()
    const property = { reference: 'model', type: 'ENUM' as const }
    const rolled = { ...everything, source: 'LISTED' as const }
    const queries: UsageQuery[] = [
      rolled,
      { ...rolled, condition: { property, comparator: 'NOT_EMPTY', values: [] } },
      { ...rolled, calculation: { type: 'UNIQUE', property }, splitBy: [property], groupBySubscription: true },
    ]
    const before = await Promise.all(queries.map(ask))
    await aggregator.client.command({ query: 'TRUNCATE TABLE usage_events' })
    for (const query of queries) expect(await ask({ ...query, source: 'RAW' })).toEqual([])
    expect(await Promise.all(queries.map(ask))).toEqual(before)
    // Whole days are read from days alone.
    const days = { ...rolled, interval: span(Date.UTC(2026, 2, 29), Date.UTC(2026, 3, 3)), splitBy: [property] }
    const { splitBy: _, ...plainDays } = days
    const [byHours, totals] = await askAll([days, plainDays])
    expect([byHours?.length, totals?.length]).not.toContain(0)
    const broken = `ALTER TABLE usage_rollups_by_grain UPDATE subscriptions = [], properties = [], events = [], value_references = [], value_currencies = [],
      counts = [], sums = [], minima = [], maxima = [] WHERE grain IN ('HOUR', 'TOTALS') SETTINGS mutations_sync = 1`
    await aggregator.client.command({ query: broken })
    expect(await ask(days)).toEqual(byHours)
    expect(await ask(plainDays)).toEqual(totals)
  })
})
