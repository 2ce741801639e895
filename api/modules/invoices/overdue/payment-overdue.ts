// Whether an invoice is overdue, by the days of the invoice's own zone. Pure.

import { daysOverdue } from '../../../../shared/billing/invoice-dates/overdue.ts'
import { type LocalDate, localDateOf, zoneOf } from '../../../../shared/billing/local-days.ts'
import { type Decimal, ZERO } from '../../../../shared/decimal.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import type { InvoiceRow } from '../table.ts'

type Due = { readonly id: string; readonly due_date: string; readonly timezone: string }

/** The due date of an invoice and the day of `now`, both in the invoice's zone. */
export function dueAndToday({ id, due_date, timezone }: Due, now: Instant): { due: LocalDate; today: LocalDate } {
  const zone = zoneOf(timezone)
  if (zone === null) throw new Error(`the invoice ${id} has no zone`)
  return { due: localDateOf(at(due_date), zone), today: localDateOf(now, zone) }
}

/** Whether the due date has passed: true from the day after it. */
export function isPastDue(invoice: Due, now: Instant): boolean {
  const { due, today } = dueAndToday(invoice, now)
  return daysOverdue(due, today) > 0
}

/** Whether part of a FINAL invoice is open after its due date (semantics 5.2, 8); `open` is what `settlementOf` says of it. */
export function isPaymentOverdue(
  { id, status, due_date, timezone }: Pick<InvoiceRow, 'id' | 'status' | 'due_date' | 'timezone'>,
  open: Decimal,
  now: Instant,
): boolean {
  return status === 'FINAL' && due_date !== null && open.gt(ZERO) && isPastDue({ id, due_date, timezone }, now)
}
