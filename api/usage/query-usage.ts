// The usage of one customer on one meter over an interval. Settled hours and days come from roll-ups and everything else
// from the raw rows; a test holds the answer equal to that of the raw rows alone, and to a model of the rules.
import { type Decimal, decimal, decimalOfInteger, ZERO } from '../../shared/decimal.ts'
import { AppError } from '../../shared/errors.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { readSql } from './read-sql.ts'
import { staleBuckets } from './stale-buckets.ts'
import type { UsageCalculation, UsageQuantity, UsageQuery } from './usage-query.ts'

/** Quantities one query may give; a property with more values than that is no price list. */
export const QUANTITIES_MAX = 10_000
/** Conditions stand in the statement, and may list ten thousand values several times over. */
const SETTINGS = {
  max_query_size: String(64 * 1024 * 1024),
  // ClickHouse compiles an expression it meets for the third time, and then refuses some with LowCardinality in them.
  compile_expressions: '0',
}

/**
 * One quantity for each currency the values carry (and each split value, and each subscription, when asked), sorted, NUMBER
 * first; none when no event matched. Exact: sums are not rounded, an average has 40 places. Reads what ClickHouse holds now;
 * `waitForUsage` waits until that is enough. INVALID_OPERATION when there are more than QUANTITIES_MAX quantities.
 */
export async function queryUsage(client: ClickHouseClient, query: UsageQuery): Promise<UsageQuantity[]> {
  const stale = query.source === 'RAW' || query.upTo !== undefined ? null : await staleBuckets(client, query)
  const { sql, params, threads } = readSql(query, stale, QUANTITIES_MAX + 1)
  const settings = threads === null ? SETTINGS : { ...SETTINGS, max_threads: String(threads) }
  const rows = await selectRows<QuantityRow>(client, sql, params, settings)
  if (rows.length > QUANTITIES_MAX) throw tooMany(query)
  return rows.map(row => quantityOf(query, row))
}

type QuantityRow = [currency: string, subscription: string, split: string[], count: string, figure: string]

function quantityOf(query: UsageQuery, row: QuantityRow): UsageQuantity {
  const [currency, subscription, split, count, figure] = row
  return {
    currency: currency === '' ? null : currency,
    number: numberOf(query.calculation.type, count, figure),
    count: Number(count),
    split: split.map(text => (text === '' ? null : text.slice(1))),
    subscription: query.groupBySubscription ? subscription : null,
  }
}

const numberOf = (type: UsageCalculation['type'], count: string, figure: string): Decimal =>
  type !== 'AVERAGE' ? decimal(figure) : count === '0' ? ZERO : decimal(figure).div(decimalOfInteger(BigInt(count)))

function tooMany({ splitBy = [] }: UsageQuery): AppError {
  const by = splitBy.map(({ reference }) => reference).join(', ')
  return new AppError(
    'INVALID_OPERATION',
    `The usage falls into more than ${QUANTITIES_MAX} quantities${by === '' ? '' : ` by ${by}`}; split it by a property with fewer values.`,
  )
}
