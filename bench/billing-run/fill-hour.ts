// An hour in use as the aggregator leaves it before it rolls it up: the rows of its events, in several inserts, and the marks behind them.
import type { Tenant } from '../../shared/tenant.ts'
import type { ClickHouseClient } from '../../shared/usage/clickhouse.ts'
import { customerReference, KINDS, METERS, meterReference, PROPERTY, VALUES } from './platform.ts'

const INSERTS = 10
const HOUR_MS = 3_600_000
/** Of a customer in the hour, a round each. */
const EVENTS = [150, 600, 2_400]

/** What the command line names: how many customers, and how many events each of them has in the hour, a round each. */
export function customersAndEvents(byDefault: number): {
  readonly customers: number
  readonly events: readonly number[]
} {
  const [customers = byDefault, ...given] = process.argv.slice(2).map(Number)
  const events = given.length > 0 ? given : EVENTS
  for (const each of [customers, ...events])
    if (!Number.isSafeInteger(each) || each < 1) throw new Error('give whole numbers of customers and events')
  return { customers, events }
}

/** Events of so many customers in the hour from `start` on, `each` of every customer and spread over its meters, each at its own time. */
export async function fillHour(
  client: ClickHouseClient,
  of: { readonly tenant: Tenant; readonly customers: number; readonly start: number; readonly each: number },
): Promise<void> {
  const { tenant, customers, start } = of
  const eachInsert = Math.ceil(of.each / INSERTS)
  const query_params = {
    platform: tenant.platformId,
    environment: tenant.environment,
    customer: customerReference(0).slice(0, -1),
    meter: meterReference(0).slice(0, -1),
    property: PROPERTY,
  }
  const bucket = `concat({customer:String}, toString(number % ${customers})),
    concat({meter:String}, toString(intDiv(number, ${customers}) % ${METERS}))`
  for (let insert = 0; insert < INSERTS; insert += 1) {
    const first = insert * eachInsert * customers
    const numbers = `(SELECT number, number + ${first} AS n FROM numbers(${eachInsert * customers}))`
    const rows = `INSERT INTO usage_events SELECT lower(hex(sipHash128(n, 1))), substring(lower(hex(sipHash128(n))), 1, 16), {platform:String},
        {environment:String}, concat('req-', toString(n)), ${bucket},
        fromUnixTimestamp64Milli(toInt64(${start} + intDiv(n * ${HOUR_MS}, ${INSERTS * eachInsert * customers})), 'UTC') AS at, at,
        [${VALUES.map(value => `'${value}'`).join(', ')}], [toDecimal128((n * 7919) % 100000 / 8, 12), toDecimal128(1, 12)], ['', ''],
        map({property:String}, concat('kind-', toString(n % ${KINDS}))), '', 0, n + 1, 0, n + 1, 0
      FROM ${numbers}`
    const marks = `INSERT INTO usage_bucket_marks SELECT {platform:String}, {environment:String}, ${bucket}, toDateTime(${start / 1_000}, 'UTC'), 0, max(n) + 1 FROM ${numbers}
      GROUP BY ALL`
    for (const query of [rows, marks]) await client.command({ query, query_params })
  }
}
