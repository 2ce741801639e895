// Up to which position the log has changed the usage of many customers at once, by the marks the aggregator leaves on every hour
// it touches: so that whose usage has not changed is not read again. Any number of customers and meters are one statement.
import type { Tenant } from '../../../shared/tenant.ts'
import type { Interval } from '../../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../../shared/usage/clickhouse.ts'
import { placeKey } from '../query/plan-queries.ts'
import { placesSql } from '../query/rows-sql.ts'
import { tenantFilter } from '../usage-sql.ts'

export type MarksQuery = {
  /** Names of customers, each on a meter; any number of them. */
  readonly places: readonly { readonly customerKey: string; readonly meterReference: string }[]
  readonly interval: Interval
}
/** The last position at which a partition changed the customer's usage. */
export type CustomerMark = {
  readonly key: string
  readonly meterReference: string
  readonly partition: number
  readonly seq: number
}

const SETTINGS = { max_threads: '1', max_query_size: String(64 * 1024 * 1024) }
const HOUR_MS = 3_600_000
/** The seconds at which an hour starts, within what a column of hours can hold. */
const hour = (ordinal: number): number => Math.min(Math.max(0, ordinal * 3_600), 2 ** 32 - 1)

/** The last mark of each name, meter and partition, of the whole hours that meet the interval; none for what never changed. */
export async function latestMarks(
  client: ClickHouseClient,
  tenant: Tenant,
  { places, interval }: MarksQuery,
): Promise<CustomerMark[]> {
  if (places.length === 0) return []
  const filter = tenantFilter(tenant)
  const keyed = new Map(
    places.map(place => {
      const key = placeKey(place.customerKey, place.meterReference)
      return [key, { ...place, key }]
    }),
  )
  const rows = await selectRows<[key: string, meter: string, partition: number, seq: string]>(
    client,
    `SELECT customer_key, toString(meter_reference) AS meter, log_partition, max(log_seq) FROM usage_bucket_marks
     WHERE ${filter.scope} AND ${placesSql(keyed.values())} AND hour >= toDateTime(${hour(Math.floor(interval.start / HOUR_MS))}, 'UTC')
       AND hour < toDateTime(${hour(Math.ceil(interval.end / HOUR_MS))}, 'UTC')
     GROUP BY customer_key, meter, log_partition`,
    filter.params,
    SETTINGS,
  )
  return rows.map(([key, meterReference, partition, seq]) => ({ key, meterReference, partition, seq: Number(seq) }))
}
