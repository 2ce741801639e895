// node dist/bench/billing-run/roll-hour.js [customers [events …]]: what ClickHouse takes to roll up the hour that is over, by how many events
// each customer (1,000 by default) has in it. The month before is in the same tables.

import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
import type { Bucket } from '../../aggregator/outcome.ts'
import { rollBuckets } from '../../aggregator/rollups/roll-buckets.ts'
import { BUCKETS_PER_TURN } from '../../aggregator/rollups/roller.ts'
import { instantOf, interval } from '../../shared/time.ts'
import { createClickHouse } from '../../shared/usage/clickhouse.ts'
import { cpuSeconds } from '../cpu.ts'
import { DATABASE } from '../measure/readable.ts'
import { setUp } from '../setup.ts'
import { customersAndEvents, fillHour } from './fill-hour.ts'
import { customerReference, METERS, meterReference } from './platform.ts'
import { fillUsage } from './usage.ts'

const CUSTOMERS = 1_000
/** Of each customer and meter in the month before. */
const EVENTS_BEFORE = 60
const HOUR_MS = 3_600_000

const { customers, events } = customersAndEvents(CUSTOMERS)

const setup = await setUp()
try {
  const url = await setup.startClickHouse()
  const pid = setup.pids['clickhouse'] ?? 0
  const hour = Math.floor(Date.now() / HOUR_MS - 1) * HOUR_MS
  const { tenant } = setup
  for (const [place, each] of events.entries()) {
    const database = `${DATABASE}_${place}`
    await migrateClickHouse(url, database)
    const client = createClickHouse(url, database)
    const month = interval(instantOf(hour - 30 * 24 * HOUR_MS), instantOf(hour))
    await fillUsage(client, { tenant, from: 0, to: customers, events: EVENTS_BEFORE, period: month })
    await fillHour(client, { tenant, customers, start: hour, each })
    // Customers are touched in no order: 7,919 is a prime.
    const buckets = Array.from(
      { length: customers * METERS },
      (_, number): Bucket => ({
        ...tenant,
        customerKey: customerReference((number * 7_919) % customers),
        meterReference: meterReference(Math.floor(number / customers)),
        hour: hour / 1_000,
      }),
    )
    const before = cpuSeconds(pid) ?? 0
    const startedAt = performance.now()
    let rolled = 0
    for (let first = 0; first < buckets.length; first += BUCKETS_PER_TURN)
      rolled += (await rollBuckets(client, buckets.slice(first, first + BUCKETS_PER_TURN))).length
    const ms = ((cpuSeconds(pid) ?? 0) - before) * 1_000
    console.log(
      `${each} events a customer in the hour: ClickHouse takes ${(ms / rolled).toFixed(2)} ms for each of ${rolled} roll-ups, ` +
        `${((performance.now() - startedAt) / rolled).toFixed(2)} ms on the clock`,
    )
    await client.close()
  }
} finally {
  await setup.stop()
}
