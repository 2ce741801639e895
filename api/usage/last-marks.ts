// How far the log has touched the usage of many customers at once, by the marks the aggregator leaves on every hour it touches:
// so that whose usage has not changed is not read again.
import type { Tenant } from '../../shared/tenant.ts'
import type { Interval } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { CUSTOMER_KEYS_MAX, usageFilter } from './usage-sql.ts'

export type MarksQuestion = {
  /** Any number of them. */
  readonly customerKeys: readonly string[]
  readonly meterReference: string
  readonly interval: Interval
}
/** The last position at which a partition touched the customer's usage. */
export type CustomerMark = { readonly key: string; readonly partition: number; readonly seq: number }

const SETTINGS = { max_threads: '1' }
const HOUR_MS = 3_600_000
/** The seconds at which an hour starts, within what a column of hours can hold. */
const hour = (ordinal: number): number => Math.min(Math.max(0, ordinal * 3_600), 2 ** 32 - 1)

/** The last mark of each customer key and partition, of the whole hours that meet the interval; none for what was never touched. */
export async function lastMarks(
  client: ClickHouseClient,
  tenant: Tenant,
  { customerKeys, meterReference, interval }: MarksQuestion,
): Promise<CustomerMark[]> {
  const marks: CustomerMark[] = []
  for (let first = 0; first < customerKeys.length; first += CUSTOMER_KEYS_MAX) {
    const keys = customerKeys.slice(first, first + CUSTOMER_KEYS_MAX)
    const filter = usageFilter({ tenant, customerKeys: keys, meterReference })
    const rows = await selectRows<[key: string, partition: number, seq: string]>(
      client,
      `SELECT customer_key, log_partition, max(log_seq) FROM usage_bucket_marks
       WHERE ${filter.scope} AND hour >= toDateTime(${hour(Math.floor(interval.start / HOUR_MS))}, 'UTC')
         AND hour < toDateTime(${hour(Math.ceil(interval.end / HOUR_MS))}, 'UTC')
       GROUP BY customer_key, log_partition`,
      filter.params,
      SETTINGS,
    )
    marks.push(...rows.map(([key, partition, seq]) => ({ key, partition, seq: Number(seq) })))
  }
  return marks
}
