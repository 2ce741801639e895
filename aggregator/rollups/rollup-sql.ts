// What the writers of usage_rollups share: which buckets go into one statement, how what they cover gets there, and the
// lists a row is made of.
import { TupleParam } from '@clickhouse/client'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { type Bucket, bucketKey } from '../outcome.ts'

/** A bucket with more combinations of properties and subscription has no row of that grain. */
export const COMBINATIONS_MAX = 10_000

/** Bound parameters travel in the address of the request, which servers bound. */
const PARAMETER_BYTES_MAX = 6_000
const BUCKETS_PER_STATEMENT = 64

export const METER = `platform_id = {platform_id:String} AND environment = {environment:String} AND meter_reference = {meter_reference:String}`
// A bound list of tuples is a set ClickHouse can look keys up with; the same list made by functions (arrayZip, arrayMap)
// is searched anew for every row of the table.
export const amongBuckets = (start: string): string =>
  `(customer_key, ${start}) IN {buckets:Array(Tuple(String, DateTime('UTC')))}`

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
export type Coverage = [customerKey: string, start: number, hours: number[], seqs: string[]]

/** Coverage read before as rows of (customer_key, start, hours, seqs): numbers, and the names as digits. */
export function coverageSql(rows: readonly Coverage[]): string {
  const tuples = rows.map(([customerKey, start, hours, seqs]) => {
    const name = Buffer.from(customerKey).toString('hex')
    return `(unhex('${name}'), ${integer(start)}, [${hours.map(integer)}], [${seqs.map(integer)}])`
  })
  const columns = 'name String, at UInt32, hours Array(UInt32), seqs Array(UInt64)'
  return `SELECT name AS customer_key, toDateTime(at, 'UTC') AS start, hours, seqs
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

/** The parameters of METER and amongBuckets; the buckets are of one tenant and meter. */
export function paramsOf(group: readonly Bucket[]): Record<string, unknown> {
  const [first] = group
  return {
    platform_id: first?.platformId,
    environment: first?.environment,
    meter_reference: first?.meterReference,
    buckets: group.map(({ customerKey, hour }) => new TupleParam([customerKey, String(hour)])),
  }
}

/** Buckets of one tenant and meter a statement, few enough for its parameters. */
export function groupsOf(buckets: readonly Bucket[]): Bucket[][] {
  const open = new Map<string, { group: Bucket[]; bytes: number }>()
  const groups: Bucket[][] = []
  for (const bucket of buckets) {
    const meter = bucketKey({ ...bucket, hour: 0, customerKey: '' })
    const bytes = encodeURIComponent(bucket.customerKey).length + 24
    let current = open.get(meter)
    if (!current || current.group.length >= BUCKETS_PER_STATEMENT || current.bytes + bytes > PARAMETER_BYTES_MAX) {
      current = { group: [], bytes: 0 }
      open.set(meter, current)
      groups.push(current.group)
    }
    current.group.push(bucket)
    current.bytes += bytes
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
