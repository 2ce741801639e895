// How late a payment is, in local days and calendar periods (semantics 0.3, 9.3).

import { daysBetween, type LocalDate } from '../local-days.ts'
import { addPeriod, type PeriodLength } from '../periods.ts'

/** Local days since the due day; 0 on that day and before it. */
export const daysOverdue = (due: LocalDate, today: LocalDate): number => Math.max(0, daysBetween(due, today))

/**
 * Whether today is more than the period after the due day; with `orAsMuch`, at least the period after it. One month
 * after 31 January is 28 February, so what was due on 31 January is a month late on 28 February and more than a month
 * late on 1 March.
 */
export function isOverdueBy(
  period: PeriodLength,
  of: { readonly due: LocalDate; readonly today: LocalDate; readonly orAsMuch: boolean },
): boolean {
  const last = addPeriod(of.due, period)
  return of.orAsMuch ? of.today >= last : of.today > last
}
