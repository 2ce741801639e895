// Invoices to draw, for tests.
import { at } from '../../../../../shared/time.ts'
import { priceInvoice } from '../../../billing/pricing/price-invoice.ts'
import { advanceChargesOf } from '../../../billing/refunds/advance-charges.ts'
import type { BillingInputs } from '../../../billing/terms/billing-inputs.ts'
import { resolveTerms } from '../../../billing/terms/price-terms.ts'
import { invoiceWindows } from '../../../billing/terms/windows.ts'
import { type Example, exampleInputs, exampleInvoices } from '../../../billing/testing/example-inputs.ts'
import type { InvoiceView } from '../../schema.ts'
import { type InvoiceColumns, type InvoiceRow, UNTOUCHED } from '../../table.ts'
import { invoiceView } from '../../view.ts'

/** A FINAL invoice with these columns and its number; `more` changes its row. A PAID one was marked so by hand. */
export function finalView(built: InvoiceColumns | undefined, more: Partial<InvoiceRow> = {}): InvoiceView {
  if (!built) throw new Error('there is an invoice')
  const row: InvoiceRow = {
    ...built,
    platform_id: 'p',
    environment: 'TEST',
    id: 'invo_1',
    created_at: '2026-02-01T00:00:00Z',
    updated_at: '2026-02-01T00:00:00Z',
    invoice_number: 'INV-2026-00001',
    status: 'FINAL',
    producer: 'SUBSCRIPTION',
    type: 'STANDARD',
    billing_type: 'DEFAULT',
    customer_id: 'cust_1',
    billing_entity_id: 'bill_1',
    pricing_plan_subscription_id: 'ppsu_1',
    on_hold: false,
    payment_status: 'UNPAID',
    ...UNTOUCHED,
    inputs_hash: '',
    finalize_at: null,
    updated_to_final_at: '2026-02-01T08:00:00Z',
    to_be_reprocessed_at: null,
    custom_fields: [],
    ...(more.payment_status === 'PAID' ? { settled_amount: built.amount_including_tax } : {}),
    ...more,
  }
  // Before anything is due.
  return invoiceView(row, at(row.created_at))
}

export type ExampleDocument = Omit<Example, 'start' | 'inputs'> & {
  readonly customer?: Partial<BillingInputs['customer']>
  readonly seller?: Partial<BillingInputs['billing_entity']>
  readonly footnote?: string
  readonly rounding?: 'DEFAULT' | 'UNROUNDED'
  readonly usage?: string
  readonly inputs?: Partial<BillingInputs>
  readonly row?: Partial<InvoiceRow>
}

/** The second invoice of a subscription from 1 January 2026: its usage, and the fees of the coming month. */
export const exampleDocument = (of: ExampleDocument): InvoiceView =>
  finalView(exampleInvoices(inputsOf(of), 1, of.usage ?? '3450')[0], of.row)

/** The same with a refund of the fees of the last days of January, which were charged when the customer was as `before` says. */
export function refundDocument(of: ExampleDocument, before: NonNullable<ExampleDocument['customer']>): InvoiceView {
  const then = inputsOf({ ...of, customer: before })
  const now = inputsOf(of)
  const [opening, next] = invoiceWindows(now)
  if (!opening || !next) throw new Error('a subscription has a second invoice')
  const asked = { billed: new Set<string>(), usage: new Map(), finalizedAt: null }
  const first = priceInvoice(then, { ...asked, terms: resolveTerms(then), window: opening })
  const refunds = advanceChargesOf(first).map(charged => ({ charged, from: at('2026-01-16T12:00:00Z') }))
  const billed = new Set(first.advanceCharges)
  return finalView(priceInvoice(now, { ...asked, billed, terms: resolveTerms(now), window: next, refunds }).columns)
}

function inputsOf(of: ExampleDocument): BillingInputs {
  const { customer, seller, footnote, rounding, usage: _usage, inputs: more, row: _row, ...example } = of
  const base = exampleInputs({ ...example, start: '2026-01-01T00:00:00Z' })
  return {
    ...base,
    ...more,
    customer: { ...base.customer, ...customer },
    billing_entity: { ...base.billing_entity, ...seller },
    platform: {
      ...base.platform,
      invoice_settings: footnote === undefined ? {} : { footnote },
      rounding_settings: rounding === undefined ? [] : [{ rounding_target: 'INVOICE', rounding_mode: rounding }],
    },
  }
}
