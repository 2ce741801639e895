// Adds the hours of a day up: DAY from HOUR, for the queries that would read many combinations in every hour, and DAY_TOTALS from TOTALS.
// A day covers what the hours it was made of cover, hour by hour, so the marks that make an hour stale make its day stale too.
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

const SECONDS_PER_DAY = 86_400
/** A statement holds the combinations of all hours of its days in memory; each hour may have 10,000. */
export const DAYS_PER_STATEMENT = 64

/** The roll-ups of days, and those of hours that they are made of. Totals first: they are the least work. */
type Grain = { readonly day: string; readonly hour: string }
const GRAINS: readonly Grain[] = [
  { day: 'DAY_TOTALS', hour: 'TOTALS' },
  { day: 'DAY', hour: 'HOUR' },
]

const hoursOf = (group: readonly Bucket[], { hour }: Grain): string =>
  `grain = '${hour}' AND ${amongBuckets(group, { start: 'toStartOfDay(start)', time: 'start', seconds: SECONDS_PER_DAY })}`

const selectCovered = (group: readonly Bucket[], grain: Grain): string => `
  SELECT customer_key, meter_reference, toUnixTimestamp(toStartOfDay(start)) AS day, groupArrayArray(arrayMap(at -> toUnixTimestamp(at), covered_hours)),
    groupArrayArray(covered_seqs)
  FROM usage_rollups_by_grain FINAL WHERE ${hoursOf(group, grain)} GROUP BY customer_key, meter_reference, day`

// The events of a combination are one more value of it, of no name.
const figuresOf = (group: readonly Bucket[], grain: Grain): string => `
  SELECT customer_key, meter_reference, day AS start, asked, combination, value.1 AS reference, value.2 AS code, sum(value.3) AS n,
    sum(value.4) AS total, min(value.5) AS lowest, max(value.6) AS highest
  FROM (
    SELECT customer_key, meter_reference, toStartOfDay(start) AS day, asked, combination,
      arrayPushBack(arrayZip(references, codes, ns, totals, lows, highs),
        ('', '', of_events, toDecimal256(0, 12), toDecimal128(0, 12), toDecimal128(0, 12))) AS list
    FROM usage_rollups_by_grain FINAL
    ARRAY JOIN subscriptions AS asked, properties AS combination, events AS of_events, value_references AS references,
      value_currencies AS codes, counts AS ns, sums AS totals, minima AS lows, maxima AS highs
    WHERE ${hoursOf(group, grain)}
  ) ARRAY JOIN list AS value GROUP BY customer_key, meter_reference, start, asked, combination, reference, code`

const writeDays = (group: readonly Bucket[], grain: Grain, covered: string): string => `
  INSERT INTO usage_rollups_by_grain
  SELECT {platform_id:String}, {environment:String}, customer_key, meter_reference, '${grain.day}', start, hours, seqs,
    ${LISTS}, arraySum(seqs)
  FROM (${covered}) AS covered
  LEFT JOIN (${listsOf('customer_key, meter_reference, start', figuresOf(group, grain))}) AS figures
    USING (customer_key, meter_reference, start)
  WHERE combinations <= ${COMBINATIONS_MAX}`

/** The day of a bucket, as a bucket itself. */
export const dayOf = (bucket: Bucket): Bucket => ({ ...bucket, hour: bucket.hour - (bucket.hour % SECONDS_PER_DAY) })

/**
 * Recomputes these days; resolves with those written. What the hours cover is read first and their figures after, so a day
 * covers at least what it says. Safe to run at the same time elsewhere.
 */
export async function rollDays(client: ClickHouseClient, days: readonly Bucket[]): Promise<Bucket[]> {
  const rolled: Bucket[] = []
  for (const group of groupsOf(days, DAYS_PER_STATEMENT)) {
    const written = new Set<string>()
    for (const grain of GRAINS) for (const key of await rollGrain(client, group, grain)) written.add(key)
    rolled.push(...group.filter(day => written.has(bucketKey(day))))
  }
  return rolled
}

/** The keys of the days that were written. */
async function rollGrain(client: ClickHouseClient, group: readonly Bucket[], grain: Grain): Promise<string[]> {
  const params = tenantOf(group)
  const covered = await selectRows<Coverage>(client, selectCovered(group, grain), params)
  if (covered.length > 0) await writeRollups(client, writeDays(group, grain, coverageSql(covered)), params)
  return covered.map(row => keyOfRow(group, row))
}

// A row's version is the sum of what it covers, so a day that holds its hours whole has the sum of their versions.
const SELECT_STALE = `
  SELECT platform_id, environment, customer_key, meter_reference, toUnixTimestamp(toStartOfDay(start)) AS day
  FROM usage_rollups_by_grain FINAL
  GROUP BY platform_id, environment, customer_key, meter_reference, day
  HAVING ${GRAINS.map(({ day, hour }) => `sumIf(version, grain = '${hour}') > sumIf(version, grain = '${day}')`).join(' OR ')}
  ORDER BY day DESC LIMIT {limit:UInt32}`

/** Days that do not hold all their hours hold, the latest first and at most `limit`. Reads every roll-up: for a start and after an overflow. */
export async function findStaleDays(client: ClickHouseClient, limit: number): Promise<Bucket[]> {
  return await selectBuckets(client, SELECT_STALE, limit)
}
