// Invoices to draw, for tests.

import { at } from '../../../../../shared/time.ts'
import type { BillingInputs } from '../../../billing/terms/billing-inputs.ts'
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
export function exampleDocument(of: ExampleDocument): InvoiceView {
  const { customer, seller, footnote, rounding, usage, inputs: more, row, ...example } = of
  const base = exampleInputs({ ...example, start: '2026-01-01T00:00:00Z' })
  const inputs = {
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
  return finalView(exampleInvoices(inputs, 1, usage ?? '3450')[0], row)
}
