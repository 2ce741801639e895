// The usage of many customers in one statement, as a billing group reads it: from single events, or from roll-ups where there are many events.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { findStaleBuckets, rollBuckets } from '../../aggregator/rollups/roll-buckets.ts'
import { queryUsages } from '../../api/usage/query/query-usages.ts'
import type { UsageQuery } from '../../api/usage/usage-query.ts'
import { createTestClickHouse, type TestClickHouse } from '../../shared/testing/clickhouse.ts'
import { type Interval, instantOf, interval } from '../../shared/time.ts'
import { type ClickHouseClient, createClickHouse } from '../../shared/usage/clickhouse.ts'
import { fillHour } from '../billing-run/fill-hour.ts'
import { customerReference, METERS, meterReference, PROPERTY, VALUES } from '../billing-run/platform.ts'
import { fillUsage } from '../billing-run/usage.ts'

const HOUR = 3_600_000
const CUSTOMERS = 45
/** Of a customer in an hour: more than it takes ClickHouse to refuse. */
const MANY = 9_000
const tenant = { platformId: 'plat_a', environment: 'LIVE' } as const
const property = { reference: PROPERTY, type: 'STRING' } as const
let clickhouse: TestClickHouse
let client: ClickHouseClient

beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  client = createClickHouse(clickhouse.url, clickhouse.database)
})
afterAll(async () => {
  await client.close()
  await clickhouse.drop()
})

const CALCULATIONS: readonly Pick<UsageQuery, 'calculation' | 'condition' | 'splitBy'>[] = [
  ...VALUES.map(valueReference => ({ calculation: { type: 'SUM', valueReference } }) as const),
  { calculation: { type: 'MAX', valueReference: VALUES[0] } },
  { calculation: { type: 'UNIQUE', property } },
  {
    calculation: { type: 'SUM', valueReference: VALUES[0] },
    condition: { property, comparator: 'EQUALS', values: ['kind-1'] },
  },
  { calculation: { type: 'AVERAGE', valueReference: VALUES[1] }, splitBy: [property] },
]

const questions = (within: Interval): UsageQuery[] =>
  Array.from({ length: CUSTOMERS }, (_, customer) =>
    Array.from({ length: METERS }, (_one, meter) =>
      CALCULATIONS.map(each => ({
        tenant,
        customerKeys: [customerReference(customer)],
        meterReference: meterReference(meter),
        interval: within,
        ...each,
      })),
    ).flat(),
  ).flat()

/** The answers, and which tables each statement read. */
async function asked(queries: readonly UsageQuery[]) {
  const select = vi.spyOn(client, 'select')
  try {
    const answers = await queryUsages(client, queries)
    const tables = select.mock.calls.map(([{ sql }]) =>
      ['usage_events', 'usage_rollups_by_grain', 'usage_bucket_marks'].filter(table => sql.includes(table)).join(),
    )
    return { answers: JSON.stringify(answers), tables }
  } finally {
    select.mockRestore()
  }
}

test('of a few events each is read from single events, and the same from roll-ups', async () => {
  const month = interval(instantOf(Date.UTC(2026, 0, 1)), instantOf(Date.UTC(2026, 1, 1)))
  await fillUsage(client, { tenant, from: 0, to: CUSTOMERS, events: 60, period: month })
  // By the half hour, so that edges of hours are read as well.
  for (const within of [month, interval(instantOf(month.start + HOUR / 2), instantOf(month.end - 9.5 * HOUR))]) {
    const queries = questions(within)
    const read = await asked(queries)
    expect(read.tables).toEqual(['usage_events'])
    const rolled = await asked(queries.map(query => ({ ...query, source: 'ROLLED' as const })))
    expect(rolled.tables[0]).toContain('usage_rollups_by_grain')
    expect(read.answers).toBe(rolled.answers)
    expect(read.answers.length).toBeGreaterThan(CUSTOMERS * METERS * CALCULATIONS.length * 20)
  }
})

test('of many events is read from roll-ups, and the same from single events', async () => {
  const hour = interval(instantOf(Date.UTC(2026, 3, 1)), instantOf(Date.UTC(2026, 3, 1, 1)))
  await fillHour(client, { tenant, customers: CUSTOMERS, start: hour.start, each: MANY })
  await rollBuckets(client, await findStaleBuckets(client, 10_000))
  const queries = questions(hour)
  const read = await asked(queries)
  expect(read.tables).toEqual(['usage_events', 'usage_rollups_by_grain,usage_bucket_marks'])
  const raw = await asked(queries.map(query => ({ ...query, source: 'RAW' as const })))
  expect(read.answers).toBe(raw.answers)
})
