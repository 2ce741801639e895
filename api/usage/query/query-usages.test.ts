// How many threads of ClickHouse a statement takes: who waits for an answer gets two, and groups that run side by side one each.
import { expect, test, vi } from 'vitest'
import { instantOf, interval } from '../../../shared/time.ts'
import type { ClickHouseClient } from '../../../shared/usage/clickhouse.ts'
import type { UsageQuery } from '../usage-query.ts'
import { queryUsages } from './query-usages.ts'

const tenant = { platformId: 'plat_a', environment: 'LIVE' } as const
/** Its first and last day are read by the hour. */
const weeks = interval(instantOf(Date.UTC(2026, 0, 1, 5)), instantOf(Date.UTC(2026, 0, 20, 20)))
const numberOfPlans = (customerKey: string, meterReference: string): UsageQuery => ({
  tenant,
  customerKeys: [customerKey],
  meterReference,
  interval: weeks,
  calculation: { type: 'UNIQUE', property: { reference: 'plan', type: 'STRING' } },
})
const numbered = (count: number) => Array.from({ length: count }, (_, number) => number)

async function threadsOf(queries: readonly UsageQuery[]): Promise<unknown[]> {
  const select = vi.fn<ClickHouseClient['select']>().mockResolvedValue([])
  await queryUsages({ select } as Partial<ClickHouseClient> as ClickHouseClient, queries)
  return select.mock.calls.map(([{ settings }]) => settings['max_threads'])
}

test.each([
  {
    what: 'many meters of one customer',
    queries: numbered(50).map(meter => numberOfPlans('a', `m${meter}`)),
    threads: '2',
  },
  {
    what: 'as many customers as wait together',
    queries: numbered(100).map(one => numberOfPlans(`c${one}`, 'm')),
    threads: '2',
  },
  { what: 'a group of customers', queries: numbered(101).map(one => numberOfPlans(`c${one}`, 'm')), threads: '1' },
])('$what: $threads', async ({ queries, threads }) => {
  expect(await threadsOf(queries)).toEqual([threads])
})
