// The one statement that reads usage: raw rows and roll-ups, each where the plan says, put together in ClickHouse.
import { SELECTOR_KEY } from '../../shared/attribution/selector.ts'
import type { Interval } from '../../shared/time.ts'
import type { UsageProperty } from '../../shared/usage/condition.ts'
import { conditionSql, distinctTextSql, textSql } from './condition-sql.ts'
import { planRead, type ReadPlan, type StaleBuckets } from './read-plan.ts'
import { needsProperties } from './stale-buckets.ts'
import type { UsageQuery } from './usage-query.ts'
import { behindSql, type UsageFilter, usageFilter, withinAny } from './usage-sql.ts'

/**
 * `stale` null reads raw rows alone. Gives rows of (currency, subscription, split values, count, figure), at most `limit`;
 * the figure is the sum, also for AVERAGE, the lowest, the highest or the number of distinct items. A split value is '' for
 * an absent property, else '=' and the value. `threads`: by how many it is read best; null for as many as there are.
 */
export function readSql(
  query: UsageQuery,
  stale: StaleBuckets | null,
  limit: number,
): { sql: string; params: Record<string, unknown>; threads: number | null } {
  const { calculation, condition, groupBySubscription, splitBy = [] } = query
  const filter = usageFilter(query)
  const unique = calculation.type === 'UNIQUE' ? calculation.property : null
  const conditions = [conditionSql('properties', condition), askingSql(query), ...(unique ? [carries(unique)] : [])]
  const split = splitBy.map(property => `if(${carries(property)}, concat('=', ${distinctTextSql(P, property)}), '')`)
  const plan = stale === null ? allRaw(query.interval) : planRead(query.interval, stale)
  const sources = sourcesOf(query, filter, plan)
  const figure =
    calculation.type === 'UNIQUE'
      ? `uniqExact(${distinctTextSql(P, calculation.property)})`
      : `${FIGURES[calculation.type].joined}(figure)`
  return {
    sql: `SELECT toString(currency) AS currency, ${groupBySubscription ? 'toString(subscription)' : `''`} AS asked,
        CAST([${split.join(', ')}], 'Array(String)') AS split, sum(n), ${figure}
      FROM (${sources.join(' UNION ALL ')})
      WHERE ${conditions.join(' AND ')}
      GROUP BY currency, asked, split ORDER BY currency, asked, split LIMIT ${limit}
      SETTINGS do_not_merge_across_partitions_select_final = 1`,
    params: filter.params,
    threads: threadsFor(query, plan),
  }
}

/** More time than this is read from raw rows by every thread there is. */
const RAW_MS_MAX = 2 * 3_600_000
/** Combinations of more hours than this are waited for too long when one thread reads them. */
const HOURS_MS_MAX = 3 * 3_600_000

/** Roll-ups and the edges of a period are read by one thread with a third less work than shared out. */
function threadsFor(query: UsageQuery, { raw, hours }: ReadPlan): number | null {
  if (lengthOf(raw) > RAW_MS_MAX) return null
  return needsProperties(query) && lengthOf(hours) > HOURS_MS_MAX ? 2 : 1
}

function askingSql({ askingFor }: UsageQuery): string {
  if (askingFor === undefined) return '1'
  const named = askingFor.keys.map(textSql)
  const among = named.length === 0 ? '0' : `toString(subscription) IN (${named.join(', ')})`
  return askingFor.orSelector ? `(${among} OR startsWith(toString(subscription), '${SELECTOR_KEY}'))` : among
}

const P = 'properties'
const carries = ({ reference }: UsageProperty): string => `mapContains(${P}, ${textSql(reference)})`

const allRaw = (within: Interval): ReadPlan => ({ raw: [within], hours: [], days: [] })
const lengthOf = (intervals: readonly Interval[]): number =>
  intervals.reduce((ms, { start, end }) => ms + end - start, 0)

function sourcesOf(query: UsageQuery, filter: UsageFilter, { raw, hours, days }: ReadPlan): string[] {
  const rolled = needsProperties(query)
    ? ([
        ['HOUR', hours],
        ['DAY', days],
      ] as const)
    : ([['TOTALS', [...hours, ...days]]] as const)
  const sources = [
    { within: raw, sql: rawSql(query, filter, raw) },
    { within: [...hours, ...days], sql: rolledSql(query, filter, rolled) },
  ]
  // A source of no time would cost what its part of the statement takes to analyse, some milliseconds.
  return sources.filter(({ within }) => within.length > 0).map(({ sql }) => sql)
}

/** Of each calculation of a value: how its figures are joined, and which column of roll-ups holds them. No other is read. */
const FIGURES = {
  SUM: { joined: 'sum', column: 'sums' },
  AVERAGE: { joined: 'sum', column: 'sums' },
  MIN: { joined: 'min', column: 'minima' },
  MAX: { joined: 'max', column: 'maxima' },
} as const

/** One row a value, or for UNIQUE one an event. */
function rawSql(query: UsageQuery, filter: UsageFilter, within: readonly Interval[]): string {
  const { calculation, upTo } = query
  // Every version of a row has the place of its event, so this may be asked of the newest.
  const placed = upTo === undefined ? '1' : `NOT ${behindSql(upTo)}`
  const where = `WHERE ${filter.scope} AND ${withinAny('timestamp', within)} AND deleted = 0 AND ${placed}`
  if (calculation.type === 'UNIQUE') {
    return `SELECT '' AS currency, subscription, properties, 1 AS n FROM usage_events FINAL ${where}`
  }
  const figure = FIGURES[calculation.type].joined === 'sum' ? `CAST(value.2, 'Decimal(76, 12)')` : 'value.2'
  return `SELECT value.3 AS currency, subscription, properties, 1 AS n, ${figure} AS figure
    FROM usage_events FINAL ARRAY JOIN arrayZip(value_references, value_quantities, value_currencies) AS value
    ${where} AND value.1 = ${textSql(calculation.valueReference)}`
}

/** Combinations of roll-ups: their figures of one value, or for UNIQUE how many events they have. */
function rolledSql(
  query: UsageQuery,
  filter: UsageFilter,
  grains: readonly (readonly [grain: 'TOTALS' | 'HOUR' | 'DAY', within: readonly Interval[]])[],
): string {
  const { calculation } = query
  const parts = grains
    .filter(([, within]) => within.length > 0)
    .map(([grain, within]) => `(grain = '${grain}' AND ${withinAny('start', within)})`)
  const where = `WHERE ${filter.scope} AND (${parts.join(' OR ')})`
  if (calculation.type === 'UNIQUE') {
    return `SELECT '' AS currency, asked AS subscription, combination AS properties, n FROM usage_rollups FINAL
      ARRAY JOIN subscriptions AS asked, properties AS combination, events AS n ${where}`
  }
  // TOTALS has no properties worth reading.
  const [column, list] =
    grains[0]?.[0] === 'TOTALS'
      ? [`CAST(map(), 'Map(LowCardinality(String), String)')`, '']
      : ['combination', ', properties AS combination']
  // What is not of the value goes before its combination is copied for each of its currencies.
  const ofValue = `arrayFilter((figures, reference) -> reference = ${textSql(calculation.valueReference)},
    arrayZip(codes, ns, figures), references)`
  return `SELECT value.1 AS currency, asked AS subscription, properties, value.2 AS n, value.3 AS figure
    FROM (
      SELECT asked, ${column} AS properties, ${ofValue} AS list FROM usage_rollups FINAL
      ARRAY JOIN subscriptions AS asked, value_references AS references, value_currencies AS codes, counts AS ns,
        ${FIGURES[calculation.type].column} AS figures${list} ${where}
    ) ARRAY JOIN list AS value`
}
