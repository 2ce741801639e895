// When an invoice must be paid (semantics 5.2).

import { type LocalDate, lastDayOfMonth } from '../local-days.ts'
import { addPeriod, type PeriodLength } from '../periods.ts'

export const DUE_DATE_TYPES = ['PERIOD_AFTER_INVOICE_DATE', 'END_OF_THE_MONTH'] as const
export type DueDateConfiguration = {
  readonly type: (typeof DUE_DATE_TYPES)[number]
  readonly period: PeriodLength | null
}

/** The invoice date plus the period, if there is one; END_OF_THE_MONTH then moves it to the last day of its month. */
export function dueDate({ type, period }: DueDateConfiguration, invoiceDate: LocalDate): LocalDate {
  const after = period === null ? invoiceDate : addPeriod(invoiceDate, period)
  return type === 'END_OF_THE_MONTH' ? lastDayOfMonth(after) : after
}
