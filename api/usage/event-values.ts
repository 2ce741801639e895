// How many events carry each value: what a price that applies to each event on its own needs. Read from single events, since roll-ups
// have sums only; a value that many events carry is one row.
import { SELECTOR_KEY } from '../../shared/attribution/selector.ts'
import { decimal, decimalOfInteger, plain } from '../../shared/decimal.ts'
import { AppError } from '../../shared/errors.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { conditionSql, textSql } from './condition-sql.ts'
import type { UsageQuantity, UsageQuery } from './usage-query.ts'
import { behindSql, tenantFilter, withinAny } from './usage-sql.ts'

/** Different values that one question gives at most. */
export const EVENT_VALUES_MAX = 1_000_000

type Row = readonly [subscription: string, quantity: string, currency: string, count: string]

/**
 * A quantity for each value, currency and (when grouped) subscription: `split` holds the value of one event, `number` the sum of all
 * with it. Throws INVALID_OPERATION for more than EVENT_VALUES_MAX of them, and for a calculation that is no sum.
 */
export async function eventValues(client: ClickHouseClient, query: UsageQuery): Promise<UsageQuantity[]> {
  const { calculation, customerKeys, meterReference, interval, condition, askingFor, upTo } = query
  if (calculation.type !== 'SUM')
    throw new AppError('INVALID_OPERATION', 'Only usage that is a SUM can be priced by event.')
  const filter = tenantFilter(query.tenant)
  // Names are texts of the tenant: digits in the statement (condition-sql.ts).
  const texts = (list: readonly string[]): string => [...new Set(list)].map(textSql).join(', ')
  const selector = askingFor?.orSelector ? ` OR startsWith(subscription, '${SELECTOR_KEY}')` : ''
  const conditions = [
    filter.scope,
    `customer_key IN (${texts(customerKeys)})`,
    `meter_reference = ${textSql(meterReference)}`,
    withinAny('timestamp', [interval]),
    'deleted = 0',
    ...(upTo === undefined ? [] : [`NOT ${behindSql(upTo)}`]),
    ...(askingFor === undefined ? [] : [`(subscription IN (${texts(askingFor.keys)})${selector})`]),
    ...(condition === undefined ? [] : [conditionSql('properties', condition)]),
  ]
  const named = query.groupBySubscription ? 'toString(subscription)' : `''`
  const rows = await selectRows<Row>(
    client,
    `SELECT ${named} AS named, toString(quantity) AS value, toString(code) AS currency, toString(count()) AS n
     FROM usage_events FINAL
     ARRAY JOIN value_references AS reference, value_quantities AS quantity, value_currencies AS code
     WHERE ${conditions.join(' AND ')} AND reference = ${textSql(calculation.valueReference)}
     GROUP BY named, value, currency LIMIT ${EVENT_VALUES_MAX + 1}
     SETTINGS do_not_merge_across_partitions_select_final = 1`,
    filter.params,
    { max_query_size: String(128 * 1024 * 1024) },
  )
  if (rows.length > EVENT_VALUES_MAX) {
    const message = `The usage has more than ${EVENT_VALUES_MAX} different values, too many to price each event on its own.`
    throw new AppError('INVALID_OPERATION', message)
  }
  return rows.map(([subscription, value, currency, count]) => {
    const each = decimal(value)
    return {
      currency: currency === '' ? null : currency,
      number: each.times(decimalOfInteger(BigInt(count))),
      count: Number(count),
      split: [plain(each)],
      subscription: query.groupBySubscription ? subscription : null,
    }
  })
}
