// One customer's month, made inside ClickHouse: the rows, the marks behind them, nothing else.
import type { Tenant } from '../../shared/tenant.ts'
import { type Interval, instantOf, interval } from '../../shared/time.ts'
import type { ClickHouseClient } from '../../shared/usage/clickhouse.ts'

/** How many values the three properties have: their combinations are the product. */
export type Shape = { readonly name: string; readonly models: number; readonly regions: number; readonly tiers: number }

export const USUAL: Shape = { name: '20 combinations', models: 5, regions: 2, tiers: 2 }
export const WIDE: Shape = { name: '5,000 combinations', models: 50, regions: 20, tiers: 5 }

export const TENANT: Tenant = { platformId: 'plat_0000000000000000000000', environment: 'LIVE' }
export const METER = 'inference'
export const VALUE = 'tokens'
export const MONTH: Interval = interval(instantOf(Date.UTC(2026, 0, 1)), instantOf(Date.UTC(2026, 1, 1)))
const PARTITIONS = 8
const ROWS_PER_STATEMENT = 1_000_000

/** Numbers of events and their times, spread evenly over the month. */
const numbersSql = (month: Interval): string => `(
  SELECT number AS n,
    fromUnixTimestamp64Milli(toInt64(${month.start} + intDiv(number * ${month.end - month.start}, {count:UInt64})), 'UTC') AS at
  FROM numbers({from:UInt64}, {rows:UInt64}))`
const SEQ = '(intDiv(n, 50) + 1)'
const PARTITION = `n % ${PARTITIONS}`

const rowsSql = ({ models, regions, tiers }: Shape, month: Interval): string => `
  INSERT INTO usage_events SELECT
    lower(hex(sipHash128(n, {customer:String}))), substring(lower(hex(sipHash128(n))), 1, 16), {platform:String},
    {environment:String}, concat('req-', toString(n)), {customer:String}, '${METER}', at, at,
    ['${VALUE}', 'calls'], [toDecimal128((n * 7919) % 100000 / 8, 12), toDecimal128(1, 12)], ['', ''],
    map('model', concat('model-', toString(sipHash64(n, 1) % ${models})),
        'region', concat('region-', toString(sipHash64(n, 2) % ${regions})),
        'tier', toString(sipHash64(n, 3) % ${tiers})),
    '', ${PARTITION}, ${SEQ}, n % 50, ${SEQ}, 0
  FROM ${numbersSql(month)}`

const marksSql = (month: Interval): string => `
  INSERT INTO usage_bucket_marks
  SELECT {platform:String}, {environment:String}, {customer:String}, '${METER}', toStartOfHour(at) AS hour,
    ${PARTITION} AS log_partition, max(${SEQ})
  FROM ${numbersSql(month)} GROUP BY hour, log_partition`

/** Stores `count` events of a customer, spread evenly over the month, in the order of time. */
export async function fillMonth(
  client: ClickHouseClient,
  of: { readonly customer: string; readonly count: number; readonly shape: Shape; readonly month?: Interval },
): Promise<void> {
  const { customer, count, shape, month = MONTH } = of
  const { platformId: platform, environment } = TENANT
  for (let from = 0; from < count; from += ROWS_PER_STATEMENT) {
    const rows = Math.min(ROWS_PER_STATEMENT, count - from)
    const query_params = { platform, environment, customer, count, from, rows }
    await client.command({ query: rowsSql(shape, month), query_params })
    await client.command({ query: marksSql(month), query_params })
  }
}

/** Says of one hour that something in it changed since it was rolled up. */
export async function touchHour(client: ClickHouseClient, customer: string, at: number): Promise<void> {
  await client.command({
    query: `INSERT INTO usage_bucket_marks VALUES ({platform:String}, {environment:String}, {customer:String}, '${METER}',
      {hour:UInt32}, 0, 1000000000000)`,
    query_params: {
      platform: TENANT.platformId,
      environment: TENANT.environment,
      customer,
      hour: Math.floor(at / 3_600_000) * 3_600,
    },
  })
}
