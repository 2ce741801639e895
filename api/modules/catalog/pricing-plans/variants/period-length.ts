// How long periods are, beside each other: days and weeks are one family, months and years the other (semantics 3.3). Pure.
import type { PeriodLength } from '../../../../../shared/billing/periods.ts'

/** In months or in days; a month has no fixed number of days. */
export function lengthOf({ type, value }: PeriodLength): { readonly unit: 'MONTH' | 'DAY'; readonly value: number } {
  if (type === 'YEAR' || type === 'MONTH') return { unit: 'MONTH', value: type === 'YEAR' ? 12 * value : value }
  return { unit: 'DAY', value: type === 'WEEK' ? 7 * value : value }
}

/** Whether both are equally long: 1 YEAR and 12 MONTH are. */
export function isSameLength(a: PeriodLength, b: PeriodLength): boolean {
  const [one, other] = [lengthOf(a), lengthOf(b)]
  return one.unit === other.unit && one.value === other.value
}

/** Whether a billing period is a whole number of pricing periods. */
export function isWholeMultiple(billing: PeriodLength, pricing: PeriodLength): boolean {
  const [inner, outer] = [lengthOf(pricing), lengthOf(billing)]
  return inner.unit === outer.unit && outer.value % inner.value === 0
}

/** `1 MONTH`, as messages say it. */
export const periodText = ({ type, value }: PeriodLength): string => `${value} ${type}`
