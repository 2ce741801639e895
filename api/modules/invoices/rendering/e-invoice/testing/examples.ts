// Invoices and credit notes whose e-invoices are checked, for tests: one for each VAT category and form of line.
import { ZERO } from '../../../../../../shared/decimal.ts'
import type { BillingInputs } from '../../../../billing/terms/billing-inputs.ts'
import { eur, metered, recurring } from '../../../../billing/testing/example-inputs.ts'
import { amountOf } from '../../../credits/credit-amounts.ts'
import { creditDocument } from '../../../credits/credit-document.ts'
import { leftOfLines } from '../../../credits/credit-left.ts'
import { selectCredit } from '../../../credits/credit-selection.ts'
import type { InvoiceContent, InvoiceView } from '../../../schema.ts'
import type { Presentation } from '../../model/presentation.ts'
import { type ExampleDocument, exampleDocument, refundDocument } from '../../testing/example-document.ts'
import { BRANDED } from '../../testing/fixtures.ts'

export const PRESENTATION: Presentation = BRANDED

export const SELLER = {
  legal_name: 'Mühle & Söhne <B.V.>',
  registration_number: '12345678',
  tax_id: 'NL123456789B01',
  email: 'billing@example.com',
  registered_address: { line1: 'Mill 1', postal_code: '1000 AA', city: 'Amsterdam', country: 'NL' },
} satisfies Partial<BillingInputs['billing_entity']>

const customerIn = (country: string, more: Record<string, unknown> = {}) => ({
  email: 'ap@example.org',
  organization: {
    legal_name: 'Acme & Co',
    tax_id: `${country}123456789`,
    registered_address: { line1: 'Road 2', line2: 'Unit 3', city: 'Utrecht', postal_code: '3500', country },
    ...more,
  },
})

const tokens = metered([{ amount: eur('0.015'), block_size: { number: '1000' } }])
const flat = metered([{ amount: eur('0.02') }])
const tiered = metered([{ amount: eur('0.10'), tier_top_bound: { number: '1000' } }, { amount: eur('0.0812345') }], {
  pricing_type: 'TIERED',
})
const example = (more: Partial<ExampleDocument> = {}): InvoiceView =>
  exampleDocument({ items: [recurring('100'), tokens], seller: SELLER, customer: customerIn('NL'), ...more })

const exempt = { ...recurring('40'), item: { model_type: 'RECURRING', tax_category: 'EXEMPT' } as const }
const untaxed = { ...recurring('60'), item: { model_type: 'RECURRING', tax_category: 'NO_TAX' } as const }

/** A FINAL credit note of everything on `original`. */
export function creditOf(original: InvoiceView): InvoiceView {
  const content = original as unknown as InvoiceContent
  const of = {
    content,
    left: leftOfLines(content, []),
    basis: original.pricing_amount_type,
    currency: original.billing_currency,
  }
  const chosen = selectCredit(of, {})
  if ([...of.left].some(([id, left]) => !amountOf(left, of.basis).eq(chosen.get(id) ?? ZERO))) throw new Error('whole')
  const { content: credited } = creditDocument(of, chosen, null)
  const { base_amount, total_amount } = credited.tax_summary
  return {
    ...original,
    ...credited,
    type: 'CREDIT',
    invoice_number: 'CN-2026-00001',
    invoice_amount_excluding_tax: base_amount,
    invoice_amount_including_tax: total_amount,
    paid_invoice_amount: { quantity: '0', currency: original.billing_currency },
    open_invoice_amount: { quantity: '0', currency: original.billing_currency },
    credit: { original_invoice_id: 'invo_0', credit_details_source: 'CURRENT', note: 'Wrong price.' },
    linked_invoices: [
      {
        id: 'invo_0',
        link_type: 'ORIGINAL',
        invoice_number: original.invoice_number,
        amount: original.invoice_amount_including_tax,
        invoice_date: original.invoice_date,
      },
    ],
  }
}

/** The same invoice with every amount in `currency`, which has the same number of decimals or needs none of them. */
export const inCurrency = (invoice: InvoiceView, currency: string): InvoiceView =>
  JSON.parse(JSON.stringify(invoice).replaceAll('"EUR"', JSON.stringify(currency)))

const discounted = example({
  schedules: [{ discount: { product_items: [{ ids: ['item0'], percentage: '10' }], totals: [{ amount: eur('15') }] } }],
})

/** Of a fee of 100, beside the one of the next month. */
const refunded = (
  customer: NonNullable<ExampleDocument['customer']>,
  before: NonNullable<ExampleDocument['customer']>,
): InvoiceView =>
  refundDocument({ items: [recurring('100', { billing_in_advance: true })], seller: SELLER, customer }, before)

const selfBilling = example({
  subscription: { variant: 'SELF_BILLING' },
  seller: { ...SELLER, tax_id: 'NL123456789B01' },
  customer: customerIn('DE'),
  row: { billing_type: 'SELF_BILLING', invoice_number: 'SBI-2026-00001' },
})

/** In euros, with the tax of the United Kingdom in pounds too. */
const localTax = (more: Partial<ExampleDocument> = {}): InvoiceView =>
  example({
    items: [recurring('100'), recurring('33.33')],
    seller: { ...SELLER, tax_id: 'GB123456789', registered_address: { ...SELLER.registered_address, country: 'GB' } },
    customer: customerIn('GB'),
    inputs: {
      tax_exchange_rates: [
        { base_currency: 'EUR', currency: 'GBP', rate: '0.85', rate_timestamp: '2026-01-30T00:00:00Z', source: 'ECB' },
      ],
    },
    ...more,
  })

export const EXAMPLES: Readonly<Record<string, InvoiceView>> = {
  'home-vat': example({ footnote: 'Thank you.', subscription: { purchase_order_number: 'PO-7' } }),
  'unit-price': example({ items: [flat], usage: '3450' }),
  tiers: example({ items: [recurring('200'), tiered], usage: '3450' }),
  'reverse-charge': example({ customer: customerIn('DE') }),
  export: example({ customer: customerIn('US', { tax_id: '12-3456789' }) }),
  'exempt-customer': example({ customer: customerIn('NL', { tax_exempt: true, tax_exempt_note: 'Article 132' }) }),
  'several-rates': example({ items: [recurring('100'), exempt, untaxed] }),
  'not-subject': example({ items: [untaxed] }),
  discounts: discounted,
  minimum: example({
    items: [flat],
    usage: '100',
    schedules: [{ commitment: { pricings: [{ ids: ['pricing'], amount: eur('50') }] } }],
  }),
  'minimum-only': example({
    items: [flat],
    usage: '0',
    schedules: [{ commitment: { pricings: [{ ids: ['pricing'], amount: eur('50') }] } }],
  }),
  deduction: example({
    items: [recurring('100'), { ...recurring('30'), item: { model_type: 'RECURRING', type: 'DEDUCTION' } }],
  }),
  'including-tax': example({
    items: [recurring('99.99'), recurring('0.01'), recurring('33.33')],
    amountType: 'INCLUDING_TAX',
  }),
  paid: example({ row: { payment_status: 'PAID' } }),
  'partly-paid': example({ row: { payment_status: 'PARTIALLY_PAID', paid_amount: '20' } }),
  yen: inCurrency(example({ items: [recurring('1000')] }), 'JPY'),
  individual: example({
    customer: {
      type: 'INDIVIDUAL',
      email: 'ada@example.org',
      organization: null,
      individual: { name: { first_name: 'Ada', last_name: 'de Vries' }, residential_address: { country: 'NL' } },
    },
  }),
  german: example({ customer: { ...customerIn('DE'), locale: 'de-DE' }, items: [recurring('200'), tiered] }),
  'self-billing': selfBilling,
  'self-billing-at-home': example({
    subscription: { variant: 'SELF_BILLING' },
    row: { billing_type: 'SELF_BILLING', invoice_number: 'SBI-2026-00002' },
  }),
  'credit-of-self-billing': creditOf(selfBilling),
  'local-tax': localTax(),
  'credit-of-local-tax': creditOf(localTax()),
  'local-tax-of-self-billing': localTax({
    subscription: { variant: 'SELF_BILLING' },
    row: { billing_type: 'SELF_BILLING', invoice_number: 'SBI-2026-00003' },
  }),
  'refund-of-another-tax': refunded(customerIn('DE'), customerIn('NL')),
  'credit-of-a-refund-of-another-tax': creditOf(refunded(customerIn('DE'), customerIn('NL'))),
  // Both without tax, for two reasons.
  'refund-of-a-reverse-charge': refunded(
    customerIn('NL', { tax_exempt: true, tax_exempt_note: 'Article 132' }),
    customerIn('DE'),
  ),
  credit: creditOf(example({})),
  'credit-of-discounts': creditOf(discounted),
  // 10.013 and 2.10273 of tax are rounded to 10.01 and 2.10, their sum to 12.12.
  'credit-unrounded': creditOf(example({ items: [recurring('10.013')], rounding: 'UNROUNDED' })),
  'credit-of-reverse-charge': creditOf(example({ customer: customerIn('DE') })),
}
