// Recomputes buckets from the raw rows: the only writer of usage_rollups. Nothing is ever added to what stands there.
import { TupleParam } from '@clickhouse/client'
import { type ClickHouseClient, insertLines, selectRows } from '../../shared/usage/clickhouse.ts'
import { type Bucket, bucketKey } from '../outcome.ts'

/** A bucket with more combinations of value, currency and properties is left to the raw rows: its cache would be no smaller. */
export const COMBINATIONS_MAX = 1_000
/** Bound parameters travel in the address of the request, which servers bound. */
const PARAMETER_BYTES_MAX = 6_000
const BUCKETS_PER_STATEMENT = 64

const KEYS = `platform_id = {platform_id:String} AND environment = {environment:String} AND meter_reference = {meter_reference:String}`
// A bound list of tuples is a set ClickHouse can look keys up with; the same list made by functions (arrayZip, arrayMap)
// is searched anew for every row of the table.
const pairs = (hour: string): string => `(customer_key, ${hour}) IN {buckets:Array(Tuple(String, DateTime('UTC')))}`

const SELECT_MARKS = `
  SELECT customer_key, toUnixTimestamp(hour), groupArray(log_partition), groupArray(seq) FROM (
    SELECT customer_key, hour, log_partition, max(log_seq) AS seq FROM usage_bucket_marks
    WHERE ${KEYS} AND ${pairs('hour')} GROUP BY customer_key, hour, log_partition ORDER BY log_partition
  ) GROUP BY customer_key, hour`

// Sums are taken in 76 digits: the sum of two quantities of 38 digits may not fit 38 and would wrap without a word.
const LIST = `groupArray(${COMBINATIONS_MAX + 1})`
const SELECT_FIGURES = `
  SELECT customer_key, toUnixTimestamp(hour), ${LIST}(value_reference), ${LIST}(currency), ${LIST}(properties),
    ${LIST}(events), ${LIST}(total), ${LIST}(lowest), ${LIST}(highest)
  FROM (
    SELECT customer_key, toStartOfHour(timestamp) AS hour, value.1 AS value_reference, value.3 AS currency, properties,
      count() AS events, sum(CAST(value.2, 'Decimal(76, 12)')) AS total, min(value.2) AS lowest, max(value.2) AS highest
    FROM usage_events FINAL ARRAY JOIN arrayZip(value_references, value_quantities, value_currencies) AS value
    WHERE ${KEYS} AND ${pairs('toStartOfHour(timestamp)')} AND deleted = 0
    GROUP BY customer_key, hour, value_reference, currency, properties
  ) GROUP BY customer_key, hour
  SETTINGS do_not_merge_across_partitions_select_final = 1`

type MarksRow = [customerKey: string, hour: number, partitions: number[], seqs: string[]]
type FiguresRow = [
  customerKey: string,
  hour: number,
  valueReferences: string[],
  currencies: string[],
  properties: Record<string, string>[],
  counts: string[],
  sums: string[],
  minima: string[],
  maxima: string[],
]

/**
 * Recomputes these buckets and resolves with how many were written. The marks are read first and the raw rows after, so
 * the row written covers at least its marks, whatever arrives meanwhile. Safe to run at the same time elsewhere.
 */
export async function rollBuckets(client: ClickHouseClient, buckets: readonly Bucket[]): Promise<number> {
  let written = 0
  for (const group of statementsFor(buckets)) written += await rollGroup(client, group)
  return written
}

async function rollGroup(client: ClickHouseClient, group: readonly Bucket[]): Promise<number> {
  const [first] = group
  if (first === undefined) return 0
  const params = {
    platform_id: first.platformId,
    environment: first.environment,
    meter_reference: first.meterReference,
    buckets: group.map(({ customerKey, hour }) => new TupleParam([customerKey, String(hour)])),
  }
  const marks = await selectRows<MarksRow>(client, SELECT_MARKS, params)
  const figures = await selectRows<FiguresRow>(client, SELECT_FIGURES, params)
  const byBucket = new Map(figures.map(row => [bucketKey({ ...first, customerKey: row[0], hour: row[1] }), row]))
  const lines: string[] = []
  for (const row of marks) {
    const line = rollupRow(first, row, byBucket.get(bucketKey({ ...first, customerKey: row[0], hour: row[1] })))
    if (line !== null) lines.push(line)
  }
  await insertLines(client, 'usage_rollups', lines)
  return lines.length
}

/** A line of usage_rollups; a bucket without rows (all deleted) gets one with no figures. Null: too many combinations. */
function rollupRow(of: Bucket, marks: MarksRow, figures: FiguresRow | undefined): string | null {
  const [customerKey, hour, partitions, seqs] = marks
  const lists = figures?.slice(2) ?? [[], [], [], [], [], [], []]
  if ((figures?.[2].length ?? 0) > COMBINATIONS_MAX) return null
  const version = seqs.reduce((total, seq) => total + BigInt(seq), 0n).toString()
  const { platformId, environment, meterReference } = of
  return JSON.stringify([
    platformId,
    environment,
    customerKey,
    meterReference,
    hour,
    partitions,
    seqs,
    ...lists,
    version,
  ])
}

/** Buckets of one tenant and meter a statement, few enough for its parameters. */
function statementsFor(buckets: readonly Bucket[]): Bucket[][] {
  const open = new Map<string, { group: Bucket[]; bytes: number }>()
  const statements: Bucket[][] = []
  for (const bucket of buckets) {
    const meter = bucketKey({ ...bucket, hour: 0, customerKey: '' })
    const bytes = encodeURIComponent(bucket.customerKey).length + 24
    let current = open.get(meter)
    if (!current || current.group.length >= BUCKETS_PER_STATEMENT || current.bytes + bytes > PARAMETER_BYTES_MAX) {
      current = { group: [], bytes: 0 }
      open.set(meter, current)
      statements.push(current.group)
    }
    current.group.push(bucket)
    current.bytes += bytes
  }
  return statements
}

const SELECT_STALE = `
  SELECT DISTINCT platform_id, environment, customer_key, meter_reference, toUnixTimestamp(hour) FROM (
    SELECT platform_id, environment, customer_key, meter_reference, hour, log_partition, max(log_seq) AS seq
    FROM usage_bucket_marks GROUP BY ALL
  ) AS marks LEFT JOIN (
    SELECT platform_id, environment, customer_key, meter_reference, hour, covered_partitions, covered_seqs
    FROM usage_rollups FINAL
  ) AS rollups USING (platform_id, environment, customer_key, meter_reference, hour)
  WHERE covered_seqs[indexOf(covered_partitions, log_partition)] < seq
  LIMIT {limit:UInt32}`

/** Buckets whose marks no roll-up covers, at most `limit`. Reads every mark: for a start and after an overflow. */
export async function findStaleBuckets(client: ClickHouseClient, limit: number): Promise<Bucket[]> {
  const rows = await selectRows<[string, string, string, string, number]>(client, SELECT_STALE, { limit })
  return rows.map(([platformId, environment, customerKey, meterReference, hour]) => ({
    platformId,
    environment,
    customerKey,
    meterReference,
    hour,
  }))
}
