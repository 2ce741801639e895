// What is paid and credited of a FINAL invoice, and its payment status (contract: States and transitions).

import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, max, plain, ZERO } from '../../../../shared/decimal.ts'
import { emit } from '../../../outbox.ts'
import { isPaid, paymentStatusOf, settlementOf } from '../settlement/settlement.ts'
import type { InvoiceRow } from '../table.ts'
import { invoiceView } from '../view.ts'
import { change, invalidMove } from './invoice-change.ts'

/** The payment statuses that a user may set. */
export type PaymentMark = 'UNPAID' | 'PAID'

/** Throws INVALID_OPERATION for an invoice that is not FINAL. */
export function checkPayable(row: InvoiceRow, field = 'payment_status'): void {
  if (row.status !== 'FINAL')
    throw invalidMove(row, `Only a FINAL invoice can be paid, and this one is ${row.status}.`, field)
}

/**
 * Marks the open amount of a locked invoice as paid without a payment, or removes that mark. Throws INVALID_OPERATION
 * where recorded payments or credits contradict it.
 */
export async function markPaid(uow: Uow, row: InvoiceRow, mark: PaymentMark): Promise<InvoiceRow> {
  checkPayable(row)
  if (row.payment_status === mark) return row
  if (mark === 'PAID') {
    if (row.payment_status === 'OVERPAID')
      throw invalidMove(
        row,
        'More than the invoice has been paid, so it is OVERPAID until that is paid back.',
        'payment_status',
      )
    const { due } = settlementOf(row)
    const settled_amount = plain(max(due.minus(row.paid_amount).minus(row.wallet_amount), ZERO))
    return await resettle(uow, row, { settled_amount, payment_status: 'PAID' })
  }
  const unmarked = { ...row, settled_amount: '0' }
  const payment_status = paymentStatusOf(unmarked)
  if (payment_status !== 'UNPAID') {
    const message = decimal(row.paid_amount).gt(ZERO)
      ? 'Payments are recorded for the invoice; reverse them.'
      : decimal(row.wallet_amount).gt(ZERO)
        ? 'A wallet has paid the invoice. To give it back, credit the invoice.'
        : 'The invoice is credited, and nothing of it is owed.'
    throw invalidMove(row, message, 'payment_status')
  }
  return await resettle(uow, row, { settled_amount: '0', payment_status })
}

/**
 * Saves what is paid or credited of a locked FINAL invoice, and the resulting status. Emits INVOICE.PAID when the
 * invoice becomes paid by it.
 */
export async function settle(
  uow: Uow,
  row: InvoiceRow,
  amounts: Partial<Pick<InvoiceRow, 'credited_amount' | 'paid_amount' | 'settled_amount' | 'wallet_amount'>>,
): Promise<InvoiceRow> {
  return await resettle(uow, row, { ...amounts, payment_status: paymentStatusOf({ ...row, ...amounts }) })
}

async function resettle(uow: Uow, row: InvoiceRow, values: Partial<InvoiceRow>): Promise<InvoiceRow> {
  const saved = await change(uow, row, values)
  const isCredited = saved.credited_amount !== row.credited_amount
  if (isPaid(saved.payment_status) && !isPaid(row.payment_status) && !isCredited)
    await emit(uow, { type: 'INVOICE.PAID', objectId: row.id, data: invoiceView(saved, uow.now), previous: null })
  return saved
}
