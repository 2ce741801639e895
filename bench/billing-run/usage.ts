// The usage of many customers over a period, made inside ClickHouse as the aggregator would have left it: rows, the marks
// behind them, and roll-ups of all hours and days.
import type { Tenant } from '../../shared/tenant.ts'
import type { Interval } from '../../shared/time.ts'
import type { ClickHouseClient } from '../../shared/usage/clickhouse.ts'
import { customerReference, KINDS, METERS, meterReference, PROPERTY, VALUES } from './platform.ts'

export type Filled = {
  readonly tenant: Tenant
  /** Numbers of customers. */
  readonly from: number
  readonly to: number
  /** Of each customer and meter, spread over the period, each in an hour of its own. */
  readonly events: number
  readonly period: Interval
  /** Subscriptions of a customer. With more than one, each event names the next of them. */
  readonly each?: number
}

const ROWS_PER_STATEMENT = 500_000
const PARTITIONS = 4
const SEQ = '(intDiv(n, 50) + 1)'
const PARTITION = `n % ${PARTITIONS}`
const NO_PROPERTIES = `CAST(map(), 'Map(LowCardinality(String), String)')`

/** One row an event: of which customer and meter, when, and what it says. */
const eventsSql = ({ events, period, each = 1 }: Filled): string => `(
  SELECT number AS n, intDiv(n, ${METERS * events}) AS customer_number, intDiv(n, ${events}) % ${METERS} AS meter_number,
    fromUnixTimestamp64Milli(toInt64(${period.start} + intDiv((n % ${events}) * ${period.end - period.start}, ${events})), 'UTC') AS at,
    concat('${customerReference(0).slice(0, -1)}', toString(customer_number)) AS customer,
    concat('${meterReference(0).slice(0, -1)}', toString(meter_number)) AS meter,
    ${each === 1 ? "''" : `concat('ref:', customer, '-', toString(n % ${each}))`} AS subscription,
    map('${PROPERTY}', concat('kind-', toString(n % ${KINDS}))) AS properties,
    [${VALUES.map(value => `'${value}'`).join(', ')}] AS names,
    [toDecimal128((n * 7919) % 100000 / 8, 12), toDecimal128(1, 12)] AS quantities
  FROM numbers({first:UInt64}, {rows:UInt64}))`

const rowsSql = (of: Filled): string => `INSERT INTO usage_events SELECT
  lower(hex(sipHash128(n, toUnixTimestamp(at)))), substring(lower(hex(sipHash128(n))), 1, 16), {platform:String},
  {environment:String}, concat('req-', toString(n), '-', toString(toUnixTimestamp(at))), customer, meter, at, at, names, quantities,
  ['', ''], properties, subscription, ${PARTITION}, ${SEQ}, n % 50, ${SEQ}, 0
  FROM ${eventsSql(of)}`

const marksSql = (of: Filled): string => `INSERT INTO usage_bucket_marks
  SELECT {platform:String}, {environment:String}, customer, meter, toStartOfHour(at), ${PARTITION}, ${SEQ} FROM ${eventsSql(of)}`

const rollupsSql = (of: Filled): string => `INSERT INTO usage_rollups_by_grain
  SELECT {platform:String}, {environment:String}, customer, meter, grain, toStartOfHour(at), [toStartOfHour(at)], [${SEQ}], [subscription],
    [if(grain = 'HOUR', properties, ${NO_PROPERTIES})], [1], [names], [['', '']], [[1, 1]], [quantities], [quantities], [quantities],
    ${SEQ}
  FROM (SELECT *, arrayJoin(['TOTALS', 'HOUR']) AS grain FROM ${eventsSql(of)})`

/** Days as the aggregator makes them: a combination stands once, with what its events add up to. */
const daysSql = (of: Filled, grain: 'DAY' | 'DAY_TOTALS'): string => {
  const properties = grain === 'DAY' ? 'properties' : NO_PROPERTIES
  return `INSERT INTO usage_rollups_by_grain
  SELECT {platform:String}, {environment:String}, customer, meter, '${grain}', day, flatten(groupArray(hours)) AS covered,
    flatten(groupArray(seqs)) AS marks, groupArray(subscription), groupArray(combination), groupArray(found), groupArray(own),
    groupArray(['', '']), groupArray([found, found]), groupArray(sums), groupArray(least), groupArray(most), arraySum(marks)
  FROM (
    SELECT customer, meter, toStartOfDay(at) AS day, subscription, ${properties} AS combination, count() AS found, any(names) AS own,
      groupArray(toStartOfHour(at)) AS hours, groupArray(${SEQ}) AS seqs, sumForEach(CAST(quantities, 'Array(Decimal(76, 12))')) AS sums,
      minForEach(quantities) AS least, maxForEach(quantities) AS most
    FROM ${eventsSql(of)} GROUP BY customer, meter, day, subscription, combination)
  GROUP BY customer, meter, day`
}

/** How far the log is: what stands behind it would be left out of every invoice that closes. */
const POSITIONS = `INSERT INTO usage_positions
  SELECT number, intDiv({rows:UInt64}, 50) + 1, now64(3), '' FROM numbers(${PARTITIONS})`

/** Stores the usage. Throws RangeError where two events of a meter would share an hour. */
export async function fillUsage(client: ClickHouseClient, of: Filled): Promise<void> {
  if (of.period.end - of.period.start < of.events * 3_600_000) throw new RangeError('more events than hours')
  const { platformId: platform, environment } = of.tenant
  const each = METERS * of.events
  // Whole customers, since a day is made of what one statement has of it.
  const most = Math.max(1, Math.floor(ROWS_PER_STATEMENT / each)) * each
  for (let first = of.from * each; first < of.to * each; first += most) {
    const rows = Math.min(most, of.to * each - first)
    const query_params = { platform, environment, first, rows }
    for (const query of [rowsSql(of), marksSql(of), rollupsSql(of), daysSql(of, 'DAY_TOTALS'), daysSql(of, 'DAY')])
      await client.command({ query, query_params })
  }
  await client.command({ query: POSITIONS, query_params: { rows: of.to * each } })
}
