// Refunds: what was paid back elsewhere of a recorded payment, or of what was paid of an invoice beyond what is due
// (semantics 5.6: a credit of a paid invoice leaves a refundable balance).
import type { Static } from 'typebox'
import type { Uow } from '../../../shared/database/database.ts'
import { type Decimal, decimal, min, plain, ZERO } from '../../../shared/decimal.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Id } from '../../../shared/ids.ts'
import { amount, toMoney } from '../../../shared/money.ts'
import { saveChange } from '../../resource/commands.ts'
import type { Amount } from '../../resource/shapes.ts'
import { getOne, lockExisting } from '../../resource/store.ts'
import { invalidMove } from '../invoices/changes/invoice-change.ts'
import { settle } from '../invoices/changes/pay-invoice.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { settlementOf } from '../invoices/settlement/settlement.ts'
import type { InvoiceRow } from '../invoices/table.ts'
import { netOfRefunds } from './net-of-refunds.ts'
import { paymentResource } from './payment.ts'
import { authorizedOf } from './store-payments.ts'
import type { Payment } from './table.ts'

/**
 * A payment that counts, locked after its invoice, as where one is recorded. Throws INVALID_OPERATION for one that was
 * reversed or paid back in full, or that paid nothing.
 */
export async function lockCounting(uow: Uow, id: string): Promise<Payment> {
  const found = await getOne(uow, paymentResource, id)
  if (found.invoice_id !== null) await lockInvoice(uow, found.invoice_id)
  const row = await lockExisting(uow, paymentResource, id)
  if (row.result === 'AUTHORIZED') return row
  throw new AppError('INVALID_OPERATION', `The payment ${NO_LONGER[row.result]}.`, { field: 'result', resourceId: id })
}

/** Why a payment does not count, by its result. */
const NO_LONGER: Readonly<Record<Exclude<Payment['result'], 'AUTHORIZED'>, string>> = {
  CANCELLED: 'is already reversed',
  REFUNDED: 'is already paid back in full',
  PENDING: 'is PENDING: nothing has been paid yet',
  REFUSED: 'was refused: nothing was paid',
  ERROR: 'failed: nothing was paid',
}

/**
 * Records that an amount of the payment was paid back; without an amount all that is left of it. Throws INVALID_FIELD
 * for an amount that is not left, and INVALID_OPERATION like `lockCounting`.
 */
export async function refundPayment(
  uow: Uow,
  id: string,
  given: Static<typeof Amount> | null | undefined,
): Promise<Payment> {
  const row = await lockCounting(uow, id)
  return await refund(uow, row, given ? wantedOf(row, given) : netOfRefunds(row))
}

function wantedOf(row: Payment, { quantity, currency }: Static<typeof Amount>): Decimal {
  const refused = (field: string, message: string) => new AppError('INVALID_FIELD', message, { field })
  const paidIn = row.amount.currency
  if (currency !== paidIn) throw refused('amount.currency', `The payment is in ${paidIn}; give the amount in it.`)
  const wanted = decimal(quantity)
  if (!toMoney(amount(wanted, currency)).quantity.eq(wanted))
    throw refused('amount.quantity', `${currency} does not have that many decimal places.`)
  const left = netOfRefunds(row)
  if (wanted.lte(ZERO) || wanted.gt(left))
    throw refused(
      'amount.quantity',
      `Give an amount above zero and at most ${plain(left)}, which is what is left of the payment.`,
    )
  return wanted
}

async function refund(uow: Uow, row: Payment, wanted: Decimal): Promise<Payment> {
  const quantity = plain(decimal(row.refunded_amount.quantity).plus(wanted))
  const isWhole = wanted.eq(netOfRefunds(row))
  return await saveChange(uow, paymentResource, row, {
    refunded_amount: { quantity, currency: row.amount.currency },
    ...(isWhole ? { result: 'REFUNDED' as const } : {}),
  })
}

/**
 * Records that everything paid beyond what is due was paid back: of the newest payments first, and then of the amount
 * marked as paid without one. Throws INVALID_OPERATION for an invoice that is not FINAL or that nothing is to be paid
 * back of.
 */
export async function refundInvoice(uow: Uow, id: Id<'invo'>): Promise<InvoiceRow> {
  const row = await lockInvoice(uow, id)
  if (row.status !== 'FINAL')
    throw invalidMove(row, `Only a FINAL invoice can be refunded, and this one is ${row.status}.`)
  let left = settlementOf(row).refundable
  if (left.lte(ZERO))
    throw invalidMove(row, 'Nothing was paid beyond what is due, so there is nothing to refund.', 'payment_status')
  for (const payment of (await authorizedOf(uow, id)).toReversed()) {
    const part = min(netOfRefunds(payment), left)
    if (part.lte(ZERO)) continue
    await refund(uow, await lockExisting(uow, paymentResource, payment.id), part)
    left = left.minus(part)
  }
  const after = await lockInvoice(uow, id)
  const marked = min(decimal(after.settled_amount), left)
  if (marked.lte(ZERO)) return after
  return await settle(uow, after, { settled_amount: plain(decimal(after.settled_amount).minus(marked)) })
}
