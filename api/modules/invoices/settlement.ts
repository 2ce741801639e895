// What is owed, paid and credited of an invoice, and the payment status that follows (contract: States and transitions; semantics
// 5.6). Pure.
import { type Decimal, decimal, max, ZERO } from '../../../shared/decimal.ts'

export const PAYMENT_STATUSES = ['UNPAID', 'PARTIALLY_PAID', 'PAID', 'OVERPAID'] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/** The columns that say it: decimals as text, with tax, in the currency of the invoice. */
export type Settled = {
  readonly type: string
  readonly payment_status: PaymentStatus
  readonly amount_including_tax: string
  readonly credited_amount: string
  readonly paid_amount: string
  readonly settled_amount: string
}

export type Settlement = {
  /** The total less what is credited. */
  readonly due: Decimal
  /** Recorded payments, and what was marked as paid without one. */
  readonly paid: Decimal
  /** Still to pay. */
  readonly open: Decimal
  /** Of the total: what is not open. */
  readonly closed: Decimal
  /** Paid beyond what is due, so that it can be paid back. */
  readonly refundable: Decimal
}

export const isCreditNote = ({ type }: Pick<Settled, 'type'>): boolean => type === 'CREDIT' || type === 'ONE_OFF_CREDIT'
export const isPaid = (status: PaymentStatus): boolean => status === 'PAID' || status === 'OVERPAID'

/** What of an invoice is open and closed. A credit note is settled by the invoice that it credits: nothing of it is open. */
export function settlementOf(row: Settled): Settlement {
  const total = decimal(row.amount_including_tax)
  const due = total.minus(row.credited_amount)
  const paid = decimal(row.paid_amount).plus(row.settled_amount)
  if (isCreditNote(row)) return { due, paid, open: ZERO, closed: total, refundable: ZERO }
  const open = isPaid(row.payment_status) ? ZERO : due.minus(paid)
  return { due, paid, open, closed: total.minus(open), refundable: max(paid.minus(max(due, ZERO)), ZERO) }
}

/**
 * The status by what is due and paid. What is credited in full is PAID, since nothing is owed; without a payment and a credit an
 * invoice is UNPAID, one over nothing too.
 */
export function paymentStatusOf(row: Omit<Settled, 'payment_status'>): PaymentStatus {
  const { due, paid } = settlementOf({ ...row, payment_status: 'UNPAID' })
  if (paid.gt(max(due, ZERO))) return 'OVERPAID'
  if (paid.lt(due)) return paid.gt(ZERO) ? 'PARTIALLY_PAID' : 'UNPAID'
  return paid.gt(ZERO) || decimal(row.credited_amount).gt(ZERO) ? 'PAID' : 'UNPAID'
}
