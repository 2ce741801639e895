// node dist/bench/billing-run/running-hour.js [customers [events …]]: what reading a group's usage costs ClickHouse while its hour is not
// rolled up, by how many events each customer (250 by default) has in it.

import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
import { queryUsages } from '../../api/usage/query/query-usages.ts'
import { instantOf, interval } from '../../shared/time.ts'
import { createClickHouse } from '../../shared/usage/clickhouse.ts'
import { cpuSeconds } from '../cpu.ts'
import { DATABASE } from '../measure/readable.ts'
import { setUp } from '../setup.ts'
import { customersAndEvents, fillHour } from './fill-hour.ts'
import { linesOf } from './group-lines.ts'
import { customerReference } from './platform.ts'

const CUSTOMERS = 250
/** Of the platform: a group is a part of them. */
const TIMES_AS_MANY = 4
const ROUNDS = 5
const HOUR_MS = 3_600_000

const { customers, events } = customersAndEvents(CUSTOMERS)

const setup = await setUp()
try {
  const url = await setup.startClickHouse()
  const pid = setup.pids['clickhouse'] ?? 0
  const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  for (const [place, each] of events.entries()) {
    const database = `${DATABASE}_${place}`
    await migrateClickHouse(url, database)
    const client = createClickHouse(url, database)
    const period = interval(instantOf(hour), instantOf(hour + HOUR_MS))
    await fillHour(client, { tenant: setup.tenant, customers: customers * TIMES_AS_MANY, start: hour, each })
    const references = Array.from({ length: customers }, (_, customer) => customerReference(customer))
    const queries = linesOf(references, { tenant: setup.tenant, interval: period, source: 'RAW' })
    await queryUsages(client, queries)
    const before = cpuSeconds(pid) ?? 0
    for (let round = 0; round < ROUNDS; round += 1) await queryUsages(client, queries)
    const ms = (((cpuSeconds(pid) ?? 0) - before) * 1_000) / ROUNDS / customers
    console.log(`${each} events a customer in the hour: ClickHouse takes ${ms.toFixed(2)} ms a customer of ten lines`)
    await client.close()
  }
} finally {
  await setup.stop()
}
