// What the invoice of a window is computed from, besides the inputs of its subscription and usage: what other invoices bill, and late usage.
import type { Instant } from '../../../../../shared/time.ts'
import { billsLateUsage, type ClosedUsage } from '../../late/closed-usage.ts'
import type { Deducted } from '../../pricing/deducted.ts'
import { type Refund, refundsIn, refundTimes } from '../../refunds/refunds.ts'
import type { InvoiceWindow } from '../../terms/windows.ts'
import { invoiceHashOf } from '../invoice-hash.ts'
import { deductedBefore } from './deducted-before.ts'
import { billedElsewhere, type SubscriptionInvoice, takesLateUsage } from './subscription-invoices.ts'
import type { SubscriptionState } from './subscription-state.ts'

export type InvoiceBasis = {
  /** Advance charges that other invoices bill. */
  readonly billed: ReadonlySet<string>
  /** What discounts of an amount took off on other invoices. */
  readonly deducted: readonly Deducted[]
  /** Whether this invoice bills late usage. */
  readonly hasLate: boolean
  readonly refunds: readonly Refund[]
  /** A hash of everything that the invoice is computed from, except usage. */
  readonly inputsHash: string
}

/** Of the invoice with this key. `rows`: the invoices of the subscription as they are now. Pure. */
export function basisOf(
  {
    state,
    closed,
  }: {
    readonly state: Pick<SubscriptionState, 'inputs' | 'inputsHash' | 'ahead'>
    readonly closed: readonly ClosedUsage[]
  },
  { key, window, rows }: Of,
): InvoiceBasis {
  const { inputs, inputsHash, ahead } = state
  const of: { readonly key: string; readonly cutoffAt: Instant } = { key, cutoffAt: window.cutoffAt }
  const billed = billedElsewhere(rows, of)
  const deducted = deductedBefore(inputs, rows, window)
  const hasLate = billsLateUsage(inputs.platform.late_event_policy) && takesLateUsage(rows, of)
  const refunds = refundsIn(window, refundTimes(inputs), ahead)
  const hashed = { billed, deducted, closed: hasLate ? closed : null, refunds }
  return { billed, deducted, hasLate, refunds, inputsHash: invoiceHashOf(inputsHash, hashed) }
}

type Of = {
  readonly key: string
  readonly window: InvoiceWindow
  readonly rows: readonly SubscriptionInvoice[]
}
