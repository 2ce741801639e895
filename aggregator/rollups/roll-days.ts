// Adds the hours of a day up, for the queries that would read many combinations in every hour. A day covers what the hours
// it was made of cover, hour by hour, so the marks that make an hour stale make its day stale too.
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { type Bucket, bucketKey } from '../outcome.ts'
import {
  amongBuckets,
  COMBINATIONS_MAX,
  type Coverage,
  coverageSql,
  groupsOf,
  LISTS,
  METER,
  paramsOf,
  writeRollups,
} from './rollup-sql.ts'

/** Fewer hours with usage are read as fast by themselves. */
const HOURS_MIN = 4
const SECONDS_PER_DAY = 86_400

const HOURS = `usage_rollups FINAL WHERE ${METER} AND grain = 'HOUR' AND ${amongBuckets('toStartOfDay(start)')}`

const SELECT_COVERED = `
  SELECT customer_key, toUnixTimestamp(toStartOfDay(start)) AS day, groupArrayArray(arrayMap(at -> toUnixTimestamp(at), covered_hours)),
    groupArrayArray(covered_seqs)
  FROM ${HOURS} GROUP BY customer_key, day HAVING count() >= ${HOURS_MIN}`

const FIGURES = `
  SELECT customer_key, start, ${LISTS} FROM (
    SELECT customer_key, day AS start, reference, code, asked, combination, sum(events) AS n, sum(subtotal) AS total,
      min(least_of_hour) AS lowest, max(greatest_of_hour) AS highest
    FROM (
      SELECT customer_key, toStartOfDay(start) AS day, reference, code, asked, combination, events, subtotal,
        least_of_hour, greatest_of_hour
      FROM ${HOURS.replace(
        ' WHERE',
        ` ARRAY JOIN value_references AS reference, value_currencies AS code, subscriptions AS asked,
          properties AS combination, counts AS events, sums AS subtotal, minima AS least_of_hour, maxima AS greatest_of_hour
        WHERE`,
      )}
    ) GROUP BY customer_key, start, reference, code, asked, combination
  ) GROUP BY customer_key, start`

const writeDays = (covered: string): string => `
  INSERT INTO usage_rollups
  SELECT {platform_id:String}, {environment:String}, customer_key, {meter_reference:String}, 'DAY', start,
    hours, seqs, value_references, value_currencies, subscriptions, properties, counts, sums, minima, maxima,
    arraySum(seqs)
  FROM (${covered}) AS covered LEFT JOIN (${FIGURES}) AS figures USING (customer_key, start)
  WHERE entries <= ${COMBINATIONS_MAX}`

/** The day of a bucket, as a bucket itself. */
export const dayOf = (bucket: Bucket): Bucket => ({ ...bucket, hour: bucket.hour - (bucket.hour % SECONDS_PER_DAY) })

/**
 * Recomputes these days; resolves with those written. What the hours cover is read first and their figures after, so a day
 * covers at least what it says. Safe to run at the same time elsewhere.
 */
export async function rollDays(client: ClickHouseClient, days: readonly Bucket[]): Promise<Bucket[]> {
  const rolled: Bucket[] = []
  for (const group of groupsOf(days)) {
    const [first] = group
    const params = paramsOf(group)
    const covered = await selectRows<Coverage>(client, SELECT_COVERED, params)
    if (first === undefined || covered.length === 0) continue
    await writeRollups(client, writeDays(coverageSql(covered)), params)
    const written = new Set(covered.map(([customerKey, hour]) => bucketKey({ ...first, customerKey, hour })))
    rolled.push(...group.filter(day => written.has(bucketKey(day))))
  }
  return rolled
}

// A row's version is the sum of what it covers, so a day that holds its hours whole has the sum of their versions.
const SELECT_STALE = `
  SELECT platform_id, environment, customer_key, meter_reference, toUnixTimestamp(toStartOfDay(start)) AS day
  FROM usage_rollups FINAL WHERE grain IN ('HOUR', 'DAY')
  GROUP BY platform_id, environment, customer_key, meter_reference, day
  HAVING countIf(grain = 'HOUR') >= ${HOURS_MIN} AND sumIf(version, grain = 'HOUR') > sumIf(version, grain = 'DAY')
  LIMIT {limit:UInt32}`

/** Days that do not hold all their hours hold, at most `limit`. Reads every roll-up: for a start and after an overflow. */
export async function findStaleDays(client: ClickHouseClient, limit: number): Promise<Bucket[]> {
  const rows = await selectRows<[string, string, string, string, number]>(client, SELECT_STALE, { limit })
  return rows.map(([platformId, environment, customerKey, meterReference, hour]) => ({
    platformId,
    environment,
    customerKey,
    meterReference,
    hour,
  }))
}
