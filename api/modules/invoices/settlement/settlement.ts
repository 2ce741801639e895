// What is owed, paid and credited of an invoice, and the resulting payment status (contract: States and transitions;
// semantics 5.6). Pure.
import { type Decimal, decimal, max, min, ZERO } from '../../../../shared/decimal.ts'

export const PAYMENT_STATUSES = ['UNPAID', 'PARTIALLY_PAID', 'PAID', 'OVERPAID'] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

export const INVOICE_TYPES = ['STANDARD', 'CREDIT', 'ONE_OFF', 'ONE_OFF_CREDIT'] as const
export type InvoiceType = (typeof INVOICE_TYPES)[number]
export const CREDIT_NOTE_TYPES = ['CREDIT', 'ONE_OFF_CREDIT'] as const satisfies readonly InvoiceType[]

/** The columns it follows from: decimals as strings, with tax, in the currency of the invoice. */
export type Settled = {
  readonly type: string
  readonly payment_status: PaymentStatus
  readonly amount_including_tax: string
  readonly credited_amount: string
  readonly paid_amount: string
  readonly settled_amount: string
  readonly wallet_amount: string
}

export type Settlement = {
  /** The total less what is credited. */
  readonly due: Decimal
  /** Recorded payments, the amount marked as paid without one, and what wallets pay after tax. */
  readonly paid: Decimal
  /** Still to pay. */
  readonly open: Decimal
  /** The part of the total that is not open. */
  readonly closed: Decimal
  /** The amount paid beyond what is due, which can be refunded. */
  readonly refundable: Decimal
}

export const isCreditNote = ({ type }: Pick<Settled, 'type'>): boolean =>
  CREDIT_NOTE_TYPES.some(credit => credit === type)
export const isPaid = (status: PaymentStatus): boolean => status === 'PAID' || status === 'OVERPAID'

/**
 * The open and closed amounts of an invoice. A credit note is settled through the invoice that it credits, so nothing
 * of it is open.
 */
export function settlementOf(row: Settled): Settlement {
  const total = decimal(row.amount_including_tax)
  const due = total.minus(row.credited_amount)
  const paid = decimal(row.paid_amount).plus(row.settled_amount).plus(row.wallet_amount)
  if (isCreditNote(row)) return { due, paid, open: ZERO, closed: total, refundable: ZERO }
  const open = isPaid(row.payment_status) ? ZERO : due.minus(paid)
  return { due, paid, open, closed: total.minus(open), refundable: max(paid.minus(max(due, ZERO)), ZERO) }
}

/**
 * The status that follows from what is due and paid. An invoice credited in full is PAID, because nothing is owed.
 * Without payments and credits it is UNPAID, even with a total of zero. So is one that owes to the customer.
 */
export function paymentStatusOf(row: Omit<Settled, 'payment_status'>): PaymentStatus {
  const { due, paid } = settlementOf({ ...row, payment_status: 'UNPAID' })
  if (paid.gt(max(due, ZERO))) return 'OVERPAID'
  if (paid.lt(due)) return paid.gt(ZERO) ? 'PARTIALLY_PAID' : 'UNPAID'
  return paid.gt(ZERO) || (due.eq(ZERO) && !decimal(row.credited_amount).eq(ZERO)) ? 'PAID' : 'UNPAID'
}

/**
 * What stays paid by wallets, of what they pay now: what credit notes leave paid in excess goes back to the wallets
 * before anything is refunded. It never becomes more: what went back stays back, even when a payment is reversed later.
 */
export function walletPaidAmount(row: Omit<Settled, 'payment_status' | 'type'>): Decimal {
  const due = max(decimal(row.amount_including_tax).minus(row.credited_amount), ZERO)
  const open = due.minus(row.paid_amount).minus(row.settled_amount)
  return min(decimal(row.wallet_amount), max(open, ZERO))
}
