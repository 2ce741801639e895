// node dist/bench/billing-run/group-usage.js [customers [events …]]: what reading the month of a billing group of 250 costs ClickHouse, by how
// many events each of the customers (1,000 by default) has on each of five meters: neighbours and those that lie apart, from what the
// product chooses, from single events and from roll-ups.
import { setTimeout as sleep } from 'node:timers/promises'
import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
import { queryUsages } from '../../api/usage/query/query-usages.ts'
import type { UsageQuery } from '../../api/usage/usage-query.ts'
import { instantOf, interval } from '../../shared/time.ts'
import { createClickHouse, selectRows } from '../../shared/usage/clickhouse.ts'
import { cpuSeconds } from '../cpu.ts'
import { DATABASE } from '../measure/readable.ts'
import { setUp } from '../setup.ts'
import { linesOf } from './group-lines.ts'
import { customerReference } from './platform.ts'
import { fillUsage } from './usage.ts'

const GROUP = 250
const ROUNDS = 4
/** Of a meter in a month: those of a billing run, and one in each hour. */
const EVENTS = [60, 744]
const MONTH = interval(instantOf(Date.UTC(2026, 0, 1)), instantOf(Date.UTC(2026, 1, 1)))

const [customers = 1_000, ...given] = process.argv.slice(2).map(Number)
const rounds = given.length > 0 ? given : EVENTS
if ([customers, ...rounds].some(each => !Number.isSafeInteger(each) || each < 1))
  throw new Error('give whole numbers of customers and events')

const setup = await setUp()
try {
  const url = await setup.startClickHouse()
  const pid = setup.pids['clickhouse'] ?? 0
  for (const [place, events] of rounds.entries()) {
    const database = `${DATABASE}_${place}`
    await migrateClickHouse(url, database)
    const client = createClickHouse(url, database)
    await fillUsage(client, { tenant: setup.tenant, from: 0, to: customers, events, period: MONTH })
    // Its housekeeping is none of what a reading costs.
    while ((await selectRows(client, 'SELECT 1 FROM system.merges LIMIT 1')).length > 0) await sleep(1_000)
    // In the order of ClickHouse.
    const names = Array.from({ length: customers }, (_, number) => customerReference(number)).sort()
    const step = Math.max(1, Math.floor(customers / GROUP))
    const groups = {
      neighbours: names.slice(0, GROUP),
      apart: names.filter((_, at) => at % step === 0).slice(0, GROUP),
    }
    for (const [where, own] of Object.entries(groups))
      for (const source of [undefined, 'RAW', 'ROLLED'] as const) {
        const of: Pick<UsageQuery, 'tenant' | 'interval' | 'source'> = { tenant: setup.tenant, interval: MONTH }
        const queries = linesOf(own, source === undefined ? of : { ...of, source })
        await queryUsages(client, queries)
        const before = cpuSeconds(pid) ?? 0
        for (let round = 0; round < ROUNDS; round += 1) await queryUsages(client, queries)
        const ms = (((cpuSeconds(pid) ?? 0) - before) * 1_000) / ROUNDS / own.length
        console.log(
          `${events} events a meter, ${own.length} ${where}, ${source ?? 'as chosen'}: ClickHouse takes ${ms.toFixed(2)} ms a customer of ten lines`,
        )
      }
    await client.close()
  }
} finally {
  await setup.stop()
}
