// Recomputes hours from the raw rows. Nothing is ever added to what stands there; this and roll-days.ts are the only writers
// of usage_rollups_by_grain.
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { type Bucket, bucketKey } from '../outcome.ts'
import {
  amongBuckets,
  COMBINATIONS_MAX,
  type Coverage,
  coverageSql,
  groupsOf,
  keyOfRow,
  LISTS,
  listsOf,
  selectBuckets,
  tenantOf,
  writeRollups,
} from './rollup-sql.ts'

/** A statement holds the combinations of its buckets in memory, so big ones are recomputed few at a time. */
const ROWS_PER_STATEMENT = 2_000_000

export type RolledBucket = { readonly bucket: Bucket; readonly rows: number }

const HOUR = 3_600
const eventsOf = (group: readonly Bucket[]): string =>
  amongBuckets(group, { start: 'toStartOfHour(timestamp)', time: 'timestamp', seconds: HOUR })

const selectSizes = (group: readonly Bucket[]): string => `
  SELECT customer_key, meter_reference, toUnixTimestamp(toStartOfHour(timestamp)) AS hour, count() FROM usage_events
  WHERE ${eventsOf(group)} GROUP BY customer_key, meter_reference, hour`

const selectMarks = (group: readonly Bucket[]): string => `
  SELECT customer_key, meter_reference, toUnixTimestamp(hour), [toUnixTimestamp(hour)], [sum(log_seq)] FROM usage_bucket_marks FINAL
  WHERE ${amongBuckets(group, { start: 'hour', time: 'hour', seconds: HOUR })} GROUP BY customer_key, meter_reference, hour`

// Sums are taken in 76 digits: the sum of two quantities of 38 digits may not fit 38 and would wrap without a word.
// One read of the raw rows gives both grains. The entry of the value '' stands for the event itself.
const figuresOf = (group: readonly Bucket[]): string => `
  SELECT customer_key, meter_reference, toStartOfHour(timestamp) AS start, if(grouping(combination) = 1, 'TOTALS', 'HOUR') AS grain,
    subscription AS asked, properties AS combination, value.1 AS reference, value.3 AS code,
    count() AS n, sum(CAST(value.2, 'Decimal(76, 12)')) AS total, min(value.2) AS lowest, max(value.2) AS highest
  FROM usage_events FINAL
  ARRAY JOIN arrayPushBack(arrayZip(value_references, value_quantities, value_currencies),
    ('', toDecimal128(0, 12), '')) AS value
  WHERE ${eventsOf(group)} AND deleted = 0
  GROUP BY GROUPING SETS (
    (customer_key, meter_reference, start, asked, combination, reference, code),
    (customer_key, meter_reference, start, asked, reference, code)
  )`

// Buckets without rows (all deleted) get rows without figures.
const writeHours = (group: readonly Bucket[], covered: string): string => `
  INSERT INTO usage_rollups_by_grain
  SELECT {platform_id:String}, {environment:String}, customer_key, meter_reference, grain, start, hours, seqs,
    ${LISTS}, arraySum(seqs)
  FROM (SELECT *, arrayJoin(['TOTALS', 'HOUR']) AS grain FROM (${covered})) AS covered
  LEFT JOIN (${listsOf('customer_key, meter_reference, start, grain', figuresOf(group))}) AS figures
    USING (customer_key, meter_reference, start, grain)
  WHERE combinations <= ${COMBINATIONS_MAX}
  SETTINGS do_not_merge_across_partitions_select_final = 1`

/**
 * Recomputes these buckets; resolves with those that were written and how many raw rows each had. The marks are read first
 * and the raw rows after, so what is written covers at least its marks, whatever arrives meanwhile. Safe to run at the same
 * time elsewhere.
 */
export async function rollBuckets(client: ClickHouseClient, buckets: readonly Bucket[]): Promise<RolledBucket[]> {
  const rolled: RolledBucket[] = []
  for (const group of groupsOf(buckets)) {
    for (const part of partsOf(await withSizes(client, group))) {
      const written = await rollPart(
        client,
        part.map(({ bucket }) => bucket),
      )
      rolled.push(...part.filter(({ bucket }) => written.has(bucketKey(bucket))))
    }
  }
  return rolled
}

async function withSizes(client: ClickHouseClient, group: readonly Bucket[]): Promise<RolledBucket[]> {
  const rows = await selectRows<[string, string, number, string]>(client, selectSizes(group), tenantOf(group))
  const sizes = new Map(rows.map(row => [keyOfRow(group, row), Number(row[3])]))
  return group.map(bucket => ({ bucket, rows: sizes.get(bucketKey(bucket)) ?? 0 }))
}

/** Cuts a group so that no part but one of a single bucket has more than ROWS_PER_STATEMENT rows. */
function partsOf(buckets: readonly RolledBucket[]): RolledBucket[][] {
  const parts: RolledBucket[][] = []
  let left = 0
  for (const each of buckets) {
    const open = parts.at(-1)
    if (open === undefined || each.rows > left) {
      parts.push([each])
      left = ROWS_PER_STATEMENT
    } else open.push(each)
    left -= each.rows
  }
  return parts
}

/** The keys of the buckets that have marks, and so were written. */
async function rollPart(client: ClickHouseClient, part: readonly Bucket[]): Promise<Set<string>> {
  const params = tenantOf(part)
  const marks = await selectRows<Coverage>(client, selectMarks(part), params)
  if (marks.length > 0) await writeRollups(client, writeHours(part, coverageSql(marks)), params)
  return new Set(marks.map(row => keyOfRow(part, row)))
}

// Judged by TOTALS, which every bucket gets.
const SELECT_STALE = `
  SELECT platform_id, environment, customer_key, meter_reference, toUnixTimestamp(hour) FROM (
    SELECT platform_id, environment, customer_key, meter_reference, hour, sum(log_seq) AS mark
    FROM usage_bucket_marks FINAL GROUP BY ALL
  ) AS marks LEFT JOIN (
    SELECT platform_id, environment, customer_key, meter_reference, start AS hour, version
    FROM usage_rollups_by_grain FINAL WHERE grain = 'TOTALS'
  ) AS rollups USING (platform_id, environment, customer_key, meter_reference, hour)
  WHERE version < mark
  LIMIT {limit:UInt32}`

/** Buckets whose marks no roll-up covers, at most `limit`. Reads every mark: for a start and after an overflow. */
export async function findStaleBuckets(client: ClickHouseClient, limit: number): Promise<Bucket[]> {
  return await selectBuckets(client, SELECT_STALE, limit)
}
