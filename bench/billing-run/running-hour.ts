// node dist/bench/billing-run/running-hour.js [customers [events …]]: what reading a group's usage costs ClickHouse while its hour is not
// rolled up, by how many events each customer (250 by default) has in it.

import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
import { queryUsages } from '../../api/usage/query/query-usages.ts'
import type { UsageCalculation, UsageQuery } from '../../api/usage/usage-query.ts'
import { instantOf, interval } from '../../shared/time.ts'
import { type ClickHouseClient, createClickHouse } from '../../shared/usage/clickhouse.ts'
import { cpuSeconds } from '../cpu.ts'
import { DATABASE } from '../measure/readable.ts'
import { setUp } from '../setup.ts'
import { customerReference, KINDS, METERS, meterReference, PROPERTY, VALUES } from './platform.ts'

const CUSTOMERS = 250
const EVENTS = [150, 600, 2_400]
/** Of the platform: a group is a part of them. */
const TIMES_AS_MANY = 4
const INSERTS = 10
const ROUNDS = 5
const HOUR_MS = 3_600_000

const customers = Number(process.argv[2] ?? CUSTOMERS)
const events = process.argv.length > 3 ? process.argv.slice(3).map(Number) : EVENTS
for (const each of [customers, ...events])
  if (!Number.isSafeInteger(each) || each < 1) throw new Error('give whole numbers of customers and events')

const property = { reference: PROPERTY, type: 'STRING' } as const
/** The calculation of each line, as those of a billing run: six sums, two of one kind, different kinds, a highest value. */
function calculationOf(line: number): Pick<UsageQuery, 'calculation' | 'condition'> {
  const valueReference = VALUES[line % VALUES.length] ?? ''
  if (line === 8) return { calculation: { type: 'UNIQUE', property } }
  const calculation: UsageCalculation = { type: line === 9 ? 'MAX' : 'SUM', valueReference }
  const isOfKind = line === 6 || line === 7
  return isOfKind ? { calculation, condition: { property, comparator: 'EQUALS', values: ['kind-1'] } } : { calculation }
}

/** Events of all customers in the hour from `start` on, each with its time, in an insert for each part of it. */
async function fillHour(
  client: ClickHouseClient,
  of: { readonly start: number; readonly each: number },
): Promise<void> {
  const many = customers * TIMES_AS_MANY
  const eachInsert = Math.ceil(of.each / INSERTS)
  for (let insert = 0; insert < INSERTS; insert += 1)
    await client.command({
      query: `INSERT INTO usage_events SELECT lower(hex(sipHash128(n, 1))), substring(lower(hex(sipHash128(n))), 1, 16), {platform:String},
          {environment:String}, concat('req-', toString(n)), concat({customer:String}, toString(number % ${many})),
          concat({meter:String}, toString(intDiv(number, ${many}) % ${METERS})),
          fromUnixTimestamp64Milli(toInt64(${of.start} + intDiv(n * ${HOUR_MS}, ${INSERTS * eachInsert * many})), 'UTC') AS at, at,
          [${VALUES.map(value => `'${value}'`).join(', ')}], [toDecimal128((n * 7919) % 100000 / 8, 12), toDecimal128(1, 12)], ['', ''],
          map({property:String}, concat('kind-', toString(n % ${KINDS}))), '', 0, n + 1, 0, n + 1, 0
        FROM (SELECT number, number + ${insert * eachInsert * many} AS n FROM numbers(${eachInsert * many}))`,
      query_params: {
        platform: setup.tenant.platformId,
        environment: setup.tenant.environment,
        customer: customerReference(0).slice(0, -1),
        meter: meterReference(0).slice(0, -1),
        property: PROPERTY,
      },
    })
}

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
    await fillHour(client, { start: hour, each })
    const queries = Array.from({ length: customers }, (_, customer) =>
      Array.from(
        { length: METERS * VALUES.length },
        (_, line): UsageQuery => ({
          tenant: setup.tenant,
          customerKeys: [customerReference(customer)],
          meterReference: meterReference(Math.floor(line / VALUES.length)),
          interval: period,
          source: 'RAW',
          ...calculationOf(line),
        }),
      ),
    ).flat()
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
