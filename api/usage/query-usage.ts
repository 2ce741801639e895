// The usage of one customer on one meter over an interval. Settled hours come from roll-ups and everything else from the
// raw rows; a test holds the answer equal to that of the raw rows alone.
import { type Decimal, decimal, decimalOfInteger, max, min, ZERO } from '../../shared/decimal.ts'
import { assertNever } from '../../shared/errors.ts'
import type { Interval } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import {
  type PropertyCondition,
  planRead,
  type UsageScope,
  usageFilter,
  whereConditions,
  withinAny,
} from './usage-sql.ts'

/** How the values of events become one number (semantics 1.1). */
export type UsageCalculation =
  | { readonly type: 'SUM' | 'MAX' | 'MIN' | 'AVERAGE'; readonly valueReference: string }
  | { readonly type: 'UNIQUE'; readonly propertyReference: string }

export type UsageQuery = UsageScope & {
  readonly interval: Interval
  readonly calculation: UsageCalculation
  /** All must hold. */
  readonly conditions?: readonly PropertyCondition[]
  /** RAW reads raw rows alone: the same answer, slower. */
  readonly source?: 'RAW' | 'ROLLED'
}

/** `currency` is null for NUMBER values and UNIQUE. `count` is the number of values, one an event. */
export type UsageQuantity = { readonly currency: string | null; readonly number: Decimal; readonly count: number }

/**
 * One quantity for each currency the values carry, sorted, NUMBER first; none when no event matched. Exact: sums are not
 * rounded, an average has 40 places. Reads what ClickHouse holds now; `waitForUsage` waits until that is enough.
 */
export async function queryUsage(client: ClickHouseClient, query: UsageQuery): Promise<UsageQuantity[]> {
  const { calculation } = query
  if (calculation.type === 'UNIQUE') return queryUnique(client, query, calculation.propertyReference)
  const figures = await valueFigures(client, query, calculation.valueReference)
  return figures.map(({ currency, count, total, lowest, highest }) => ({
    currency: currency === '' ? null : currency,
    number: numberOf(calculation.type, { count, total, lowest, highest }),
    count,
  }))
}

type Figures = { count: number; total: Decimal; lowest: Decimal; highest: Decimal }
type CurrencyFigures = Figures & { currency: string }
type FiguresRow = [currency: string, count: string, total: string, lowest: string, highest: string]

function numberOf(type: 'SUM' | 'MAX' | 'MIN' | 'AVERAGE', { count, total, lowest, highest }: Figures): Decimal {
  switch (type) {
    case 'SUM':
      return total
    case 'MAX':
      return highest
    case 'MIN':
      return lowest
    case 'AVERAGE':
      return count === 0 ? ZERO : total.div(decimalOfInteger(count))
    default:
      return assertNever(type)
  }
}

async function valueFigures(client: ClickHouseClient, query: UsageQuery, value: string): Promise<CurrencyFigures[]> {
  if (query.source === 'RAW') return addFigures(await rawFigures(client, query, value, [query.interval]))
  const plan = planRead(query.interval, await staleHours(client, query))
  const [raw, rolled] = await Promise.all([
    rawFigures(client, query, value, plan.raw),
    rolledFigures(client, query, value, plan.rolled),
  ])
  return addFigures([...raw, ...rolled])
}

function addFigures(rows: readonly FiguresRow[]): CurrencyFigures[] {
  const byCurrency = new Map<string, CurrencyFigures>()
  for (const [currency, count, total, lowest, highest] of rows) {
    const known = byCurrency.get(currency)
    byCurrency.set(currency, {
      currency,
      count: Number(count) + (known?.count ?? 0),
      total: decimal(total).plus(known?.total ?? ZERO),
      lowest: known ? min(known.lowest, decimal(lowest)) : decimal(lowest),
      highest: known ? max(known.highest, decimal(highest)) : decimal(highest),
    })
  }
  return [...byCurrency.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1))
}

/**
 * Starts of the hours (ms) whose last mark no roll-up covers. Read before the figures: whatever a roll-up row is replaced
 * by meanwhile covers at least as much, so an hour found settled here stays settled.
 */
async function staleHours(client: ClickHouseClient, query: UsageQuery): Promise<number[]> {
  const filter = usageFilter(query)
  const where = `${filter.scope} AND ${withinAny(filter, 'hour', [query.interval])}`
  const rows = await selectRows<[number]>(
    client,
    `SELECT DISTINCT toUnixTimestamp(hour) AS stale FROM (
       SELECT customer_key, hour, log_partition, max(log_seq) AS seq FROM usage_bucket_marks
       WHERE ${where} GROUP BY customer_key, hour, log_partition
     ) AS marks LEFT JOIN (
       SELECT customer_key, hour, covered_partitions, covered_seqs FROM usage_rollups FINAL WHERE ${where}
     ) AS rollups USING (customer_key, hour)
     WHERE covered_seqs[indexOf(covered_partitions, log_partition)] < seq ORDER BY stale`,
    filter.params,
  )
  return rows.map(([hour]) => hour * 1000)
}

async function rawFigures(
  client: ClickHouseClient,
  query: UsageQuery,
  value: string,
  intervals: readonly Interval[],
): Promise<FiguresRow[]> {
  if (intervals.length === 0) return []
  const filter = usageFilter(query)
  return selectRows<FiguresRow>(
    client,
    `SELECT item.3 AS currency, count(), sum(CAST(item.2, 'Decimal(76, 12)')), min(item.2), max(item.2)
     FROM usage_events FINAL ARRAY JOIN arrayZip(value_references, value_quantities, value_currencies) AS item
     WHERE ${filter.scope} AND ${withinAny(filter, 'timestamp', intervals)} AND deleted = 0
       AND ${whereConditions(filter, 'properties', query.conditions ?? [])}
       AND item.1 = ${filter.bind(value, 'String')}
     GROUP BY currency SETTINGS do_not_merge_across_partitions_select_final = 1`,
    filter.params,
  )
}

async function rolledFigures(
  client: ClickHouseClient,
  query: UsageQuery,
  value: string,
  intervals: readonly Interval[],
): Promise<FiguresRow[]> {
  if (intervals.length === 0) return []
  const filter = usageFilter(query)
  return selectRows<FiguresRow>(
    client,
    `SELECT item.2 AS currency, sum(item.4), sum(item.5), min(item.6), max(item.7)
     FROM usage_rollups FINAL
     ARRAY JOIN arrayZip(value_references, value_currencies, properties, counts, sums, minima, maxima) AS item
     WHERE ${filter.scope} AND ${withinAny(filter, 'hour', intervals)}
       AND ${whereConditions(filter, 'item.3', query.conditions ?? [])}
       AND item.1 = ${filter.bind(value, 'String')}
     GROUP BY currency`,
    filter.params,
  )
}

/** Distinct values of a property, always from raw rows; `count` is the number of events that carry it. */
async function queryUnique(client: ClickHouseClient, query: UsageQuery, property: string): Promise<UsageQuantity[]> {
  const filter = usageFilter(query)
  const name = filter.bind(property, 'String')
  const rows = await selectRows<[string, string]>(
    client,
    `SELECT uniqExact(properties[${name}]), count() FROM usage_events FINAL
     WHERE ${filter.scope} AND ${withinAny(filter, 'timestamp', [query.interval])} AND deleted = 0
       AND mapContains(properties, ${name}) AND ${whereConditions(filter, 'properties', query.conditions ?? [])}
     SETTINGS do_not_merge_across_partitions_select_final = 1`,
    filter.params,
  )
  const [distinct, count] = rows[0] ?? ['0', '0']
  return count === '0' ? [] : [{ currency: null, number: decimal(distinct), count: Number(count) }]
}
