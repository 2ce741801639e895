// A payment that was made elsewhere, recorded so that an invoice is PARTIALLY_PAID, PAID or OVERPAID by it (semantics 5.6, 9.2). It is
// never changed: one that was recorded wrongly is reversed, and a right one recorded.
import Type from 'typebox'
import type { Uow } from '../../../shared/database/database.ts'
import { decimal, plain, sum, ZERO } from '../../../shared/decimal.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Id } from '../../../shared/ids.ts'
import { amount as amountOf, toMoney } from '../../../shared/money.ts'
import { formatInstant } from '../../../shared/time.ts'
import { defineResource, field, type Resource, readOnly } from '../../resource/define-resource.ts'
import { Amount, IdText, OneOf, Timestamp } from '../../resource/shapes.ts'
import { checkPayable, settle } from '../invoices/changes/pay-invoice.ts'
import { findInvoice, lockInvoice } from '../invoices/repository.ts'
import { isCreditNote } from '../invoices/settlement/settlement.ts'
import type { InvoiceRow } from '../invoices/table.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { netOfRefunds } from './net-of-refunds.ts'
import { authorizedOf } from './store-payments.ts'
import { PAYMENT_RESULTS, type Payment, payments } from './table.ts'

const refused = (name: string, message: string): AppError => new AppError('INVALID_FIELD', message, { field: name })
export const OwnReference = Type.String({ minLength: 1, maxLength: 255, description: 'Yours; not unique.' })
export const ExternalReference = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'What the bank or gateway calls it.',
})

export const paymentResource: Resource<Payment> = defineResource<Payment>({
  objectType: 'PAYMENT',
  shapeName: 'Payment',
  idPrefix: 'paym',
  path: 'payments',
  table: payments,
  fields: {
    customer_id: field(IdText('customer'), { change: 'never' }),
    invoice_id: field(IdText('invoice'), { change: 'never' }),
    timestamp: field(Timestamp, { change: 'never' }),
    amount: field(Amount, { create: 'required', change: 'never' }),
    reference: field(OwnReference, { change: 'never' }),
    external_reference: field(ExternalReference, { change: 'never' }),
    refunded_amount: readOnly(Amount),
    result: readOnly(OneOf(...PAYMENT_RESULTS)),
  },
  operations: ['create', 'list', 'get'],
  byReference: false,
  testClockOf: 'customer_id',
  filters: {
    customer_id: { kind: 'equals', column: 'customer_id' },
    invoice_id: { kind: 'equals', column: 'invoice_id', schema: IdText('invoice') },
    external_reference: { kind: 'equals', column: 'external_reference', schema: ExternalReference },
  },
  orderBy: ['timestamp'],
  expand: { customer: { by: 'customer_id', to: () => customerResource } },
  references: { customer_id: () => customerResource },
  defaults: (uow, row) => ({
    result: 'AUTHORIZED',
    timestamp: row.timestamp ?? formatInstant(uow.now),
    refunded_amount: { quantity: '0', currency: row.amount?.currency ?? '' },
  }),
  resolve: async (uow, row) => {
    if (row.invoice_id === null) return row
    // Before the payment, as where one is reversed: payments of one invoice follow each other.
    const invoice = (await findInvoice(uow, row.invoice_id)) && (await lockInvoice(uow, row.invoice_id))
    if (!invoice) throw refused('invoice_id', `There is no INVOICE ${JSON.stringify(row.invoice_id)}.`)
    checkInvoice(row, invoice)
    return { ...row, customer_id: invoice.customer_id }
  },
  check: (_uow, row) => {
    if (!row.customer_id)
      throw new AppError('MISSING_FIELD', 'Say what was paid: invoice_id, or customer_id for a payment on account.', {
        field: 'invoice_id',
      })
    checkPaid(row, row.amount.currency)
  },
  afterSave: async (uow, row) => {
    if (row.invoice_id !== null) await countPayments(uow, row.invoice_id)
  },
  fixture: {
    create: async seed => ({
      customer_id: (await seed.make(customerResource)).id,
      amount: { quantity: '100.00', currency: 'EUR' },
      external_reference: seed.unique('bank'),
    }),
    update: null,
  },
})

function checkInvoice({ customer_id, amount }: Payment, invoice: InvoiceRow): void {
  if (customer_id && customer_id !== invoice.customer_id)
    throw refused('customer_id', 'The invoice is for another customer; leave customer_id out.')
  checkPayable(invoice, 'invoice_id')
  if (isCreditNote(invoice)) throw refused('invoice_id', 'A credit note is not paid; it lowers what its invoice owes.')
  checkPaid({ amount }, invoice.billing_currency)
}

/** Throws INVALID_FIELD for an amount that is not one of money in this currency. */
export function checkPaid({ amount: { quantity, currency } }: Pick<Payment, 'amount'>, of: string): void {
  if (currency !== of) throw refused('amount.currency', `The invoice is in ${of}; record the amount in it.`)
  if (decimal(quantity).lte(ZERO)) throw refused('amount.quantity', 'A payment is above zero.')
  if (!toMoney(amountOf(quantity, currency)).quantity.eq(decimal(quantity)))
    throw refused('amount.quantity', `${currency} does not have that many decimal places.`)
}

/** Lets the invoice follow its payments. The caller holds it. */
async function countPayments(uow: Uow, invoiceId: Id<'invo'>): Promise<void> {
  const paid = (await authorizedOf(uow, invoiceId)).map(netOfRefunds)
  await settle(uow, await lockInvoice(uow, invoiceId), { paid_amount: plain(sum(paid)) })
}
