// What tells the invoices of one subscription apart, and which charges each of them asks. Pure.
import type { Instant } from '../../../shared/time.ts'
import type { InvoiceOutline } from './table.ts'
import { at, type InvoiceWindow, periodOf } from './windows.ts'

/** By the start, not the end: a cancellation moves the end of the running period. */
const keyOf = (start: Instant, advanceOnly: boolean): string => `${start}${advanceOnly ? ' advance' : ''}`

export const keyOfRow = (row: Pick<InvoiceOutline, 'period_start' | 'advance_only'>): string =>
  keyOf(at(row.period_start), row.advance_only)
export const keyOfWindow = (window: InvoiceWindow): string => keyOf(periodOf(window).start, window.arrears === null)

/**
 * Whether this is the invoice that late usage goes on: of those that are, or are about to be, OPEN or DRAFT the one that is
 * cut first. So at any time there is one, and what it asks is asked by no other.
 */
export const takesLateUsage = (
  rows: readonly InvoiceOutline[],
  of: { readonly key: string; readonly cutAt: Instant },
): boolean =>
  !rows.some(
    row => keyOfRow(row) !== of.key && (row.status === 'OPEN' || row.status === 'DRAFT') && at(row.cut_at) < of.cutAt,
  )

/** Advance charges that other invoices ask: earlier ones, and later ones that are closed. */
export function billedElsewhere(
  rows: readonly InvoiceOutline[],
  of: { readonly key: string; readonly cutAt: Instant },
): Set<string> {
  const others = rows.filter(row => keyOfRow(row) !== of.key)
  const asking = others.filter(row => at(row.cut_at) < of.cutAt || row.status === 'FINAL' || row.status === 'ARCHIVED')
  return new Set(asking.flatMap(row => row.advance_charges))
}
