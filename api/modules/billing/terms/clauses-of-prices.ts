// Which prices the clauses of a schedule name. Pure.
import type { ClauseEntry } from '../../subscriptions/clauses/clause-entries.ts'
import type { PriceTerm } from './price-terms.ts'

/** The id of a clause, by its path in its schedule. */
export const idOfClause = (scheduleId: string, path: string): string => `${scheduleId} ${path}`

/** Whether a clause names this price. */
export function isOf(
  { level, ids }: ClauseEntry,
  { pricing, item, config }: Pick<PriceTerm, 'pricing' | 'item' | 'config'>,
): boolean {
  if (level === null) return true
  return ids.includes(level === 'CONFIG' ? config.id : level === 'ITEM' ? item.id : pricing.id)
}
