// Whether an invoice is overdue, by the days of the invoice's own zone. Pure.

import { daysOverdue } from '../../../../shared/billing/invoice-dates/overdue.ts'
import { type LocalDate, localDateOf, zoneOf } from '../../../../shared/billing/local-days.ts'
import { ZERO } from '../../../../shared/decimal.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { settlementOf } from '../settlement/settlement.ts'
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

/** Whether part of a FINAL invoice is open after its due date (semantics 5.2, 8). */
export function isPaymentOverdue({ due_date, ...row }: InvoiceRow, now: Instant): boolean {
  if (row.status !== 'FINAL' || due_date === null || settlementOf(row).open.lte(ZERO)) return false
  return isPastDue({ id: row.id, due_date, timezone: row.timezone }, now)
}
