// What the writers of usage_rollups_by_grain share: which buckets go into one statement, how what they cover gets there, and the
// lists a row is made of.
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { type Bucket, bucketKey, byPlace } from '../outcome.ts'

/** A bucket with more combinations of properties and subscription has no row of that grain. */
export const COMBINATIONS_MAX = 10_000

/** Of the names in a statement, which stand in its text; a statement of more than 256 KiB is refused. */
const NAME_BYTES_MAX = 64 * 1024
/** Of hours. */
export const BUCKETS_PER_STATEMENT = 512

/** Whether a row is of the tenant that `tenantOf` gives. */
const TENANT = 'platform_id = {platform_id:String} AND environment = {environment:String}'

/**
 * Whether a row is of one of these buckets, which are of one tenant. `start` is when the bucket of a row starts, and `time` the column
 * that this is taken from. The ranges let ClickHouse pass over whole parts; those of neighbours are narrow.
 */
export function amongBuckets(
  group: readonly Bucket[],
  { start, time, seconds }: { readonly start: string; readonly time: string; readonly seconds: number },
): string {
  const tuples = group.map(
    ({ customerKey, meterReference, hour }) => `('${hex(customerKey)}', '${hex(meterReference)}', ${integer(hour)})`,
  )
  // In the order of bytes, as ClickHouse compares; so are their hex digits.
  const customers = group.map(({ customerKey }) => hex(customerKey)).sort()
  const hours = group.map(({ hour }) => hour)
  const at = (second: number): string => `toDateTime(${integer(second)}, 'UTC')`
  return `${TENANT} AND customer_key BETWEEN unhex('${customers.at(0) ?? ''}') AND unhex('${customers.at(-1) ?? ''}')
    AND ${time} BETWEEN ${at(Math.min(...hours))} AND ${at(Math.min(Math.max(...hours) + seconds, SECOND_MAX))}
    AND (customer_key, meter_reference, ${start}) IN (
      SELECT unhex(customer), unhex(meter), toDateTime(at, 'UTC')
      FROM values('customer String, meter String, at UInt32', ${tuples.join(', ')}))`
}

/** Of a DateTime. */
const SECOND_MAX = 2 ** 32 - 1

const hex = (text: string): string => Buffer.from(text).toString('hex')

const list = (column: string): string => `groupArray(${COMBINATIONS_MAX + 1})(${column}) AS ${column}`
/** The lists of a row, in the order of the table. */
export const LISTS =
  'subscriptions, properties, events, value_references, value_currencies, counts, sums, minima, maxima'

/**
 * The lists of each bucket, and how many combinations it has, from figures: rows of (`bucket`, asked, combination,
 * reference, code, n, total, lowest, highest), where the reference '' stands for the events themselves.
 */
export const listsOf = (bucket: string, figures: string): string => `
  SELECT ${bucket}, ${LISTS.split(', ').map(list).join(', ')}, count() AS combinations FROM (
    SELECT ${bucket}, asked AS subscriptions, combination AS properties, sumIf(n, reference = '') AS events,
      groupArrayIf(reference, reference != '') AS value_references, groupArrayIf(code, reference != '') AS value_currencies,
      groupArrayIf(n, reference != '') AS counts, groupArrayIf(total, reference != '') AS sums,
      groupArrayIf(lowest, reference != '') AS minima, groupArrayIf(highest, reference != '') AS maxima
    FROM (${figures}) GROUP BY ${bucket}, asked, combination
  ) GROUP BY ${bucket}`

/** What a row covers: the start of the bucket and, in parallel lists, its hours (seconds) and the sums of their marks. */
export type Coverage = [customerKey: string, meterReference: string, start: number, hours: number[], seqs: string[]]

/** Coverage read before as rows of (customer_key, meter_reference, start, hours, seqs): numbers, and the names as digits. */
export function coverageSql(rows: readonly Coverage[]): string {
  const tuples = rows.map(
    ([customerKey, meter, start, hours, seqs]) =>
      `('${hex(customerKey)}', '${hex(meter)}', ${integer(start)}, [${hours.map(integer)}], [${seqs.map(integer)}])`,
  )
  const columns = 'customer String, meter String, at UInt32, hours Array(UInt32), seqs Array(UInt64)'
  return `SELECT unhex(customer) AS customer_key, toLowCardinality(unhex(meter)) AS meter_reference, toDateTime(at, 'UTC') AS start, hours, seqs
    FROM values('${columns}', ${tuples.join(', ')})`
}

/** What a statement covers stands in its text: a mark is some thirty bytes, a day holds 24 for each partition. */
const STATEMENT_BYTES_MAX = 64 * 1024 * 1024

export async function writeRollups(
  client: ClickHouseClient,
  query: string,
  params: Record<string, unknown>,
): Promise<void> {
  const settings = { max_query_size: String(STATEMENT_BYTES_MAX) }
  await client.command({ query, query_params: params, clickhouse_settings: settings })
}

const integer = (value: number | string): string => BigInt(value).toString()

/** The parameters of TENANT for these buckets, which are of one. */
export function tenantOf([first]: readonly Bucket[]): Record<string, unknown> {
  return { platform_id: first?.platformId, environment: first?.environment }
}

/** The key of the bucket that a row of a statement is about; the statement is for `group`. */
export function keyOfRow(
  [first]: readonly Bucket[],
  [customerKey, meterReference, hour]: readonly [string, string, number, ...unknown[]],
): string {
  if (!first) throw new Error('a statement is for at least one bucket')
  return bucketKey({ ...first, customerKey, meterReference, hour })
}

/** Buckets of one tenant for each statement, at most so many, neighbours together: what they are made of stands side by side. */
export function groupsOf(buckets: readonly Bucket[], most = BUCKETS_PER_STATEMENT): Bucket[][] {
  const groups: Bucket[][] = []
  let bytes = 0
  for (const bucket of buckets.toSorted(byPlace)) {
    const own = 2 * (Buffer.byteLength(bucket.customerKey) + Buffer.byteLength(bucket.meterReference))
    const open = groups.at(-1)
    const [first] = open ?? []
    const isOfTenant = first?.platformId === bucket.platformId && first.environment === bucket.environment
    if (open && isOfTenant && open.length < most && bytes + own <= NAME_BYTES_MAX) {
      open.push(bucket)
      bytes += own
    } else {
      groups.push([bucket])
      bytes = own
    }
  }
  return groups
}

/** The buckets a statement names, at most `limit`: platform, environment, customer, meter and the second it starts at. */
export async function selectBuckets(client: ClickHouseClient, statement: string, limit: number): Promise<Bucket[]> {
  const rows = await selectRows<[string, string, string, string, number]>(client, statement, { limit })
  return rows.map(([platformId, environment, customerKey, meterReference, hour]) => ({
    platformId,
    environment,
    customerKey,
    meterReference,
    hour,
  }))
}
