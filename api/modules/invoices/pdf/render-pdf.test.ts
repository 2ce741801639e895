import fc from 'fast-check'
import { expect, test } from 'vitest'
import { closeInTurn } from '../../billing/testing/example-closing.ts'
import { eur, exampleInputs, exampleInvoices, metered, recurring } from '../../billing/testing/example-inputs.ts'
import type { InvoiceView } from '../schema.ts'
import { type InvoiceColumns, UNTOUCHED } from '../table.ts'
import { invoiceView } from '../view.ts'
import { printable } from './invoice-document.ts'
import { pdfText } from './pdf-text.ts'
import { renderInvoicePdf } from './render-pdf.ts'

function finalInvoice(names: { customer?: string; item?: string; footnote?: string } = {}): InvoiceView {
  const base = exampleInputs({
    start: '2026-01-01T00:00:00Z',
    items: [
      recurring('100'),
      {
        ...metered([{ amount: eur('0.015'), block_size: { number: '1000' } }]),
        item: { name: names.item ?? 'Tokens', model_type: 'USAGE_BASED', meter_value_calculation_id: 'calc' },
      },
    ],
  })
  const organization = { ...base.customer.organization, legal_name: names.customer ?? 'Acme' }
  const inputs = {
    ...base,
    customer: { ...base.customer, organization },
    platform: { ...base.platform, invoice_settings: { footnote: names.footnote ?? 'Thank you.' } },
  }
  return viewOf(exampleInvoices(inputs, 1, '3450')[0])
}

function viewOf(built: InvoiceColumns | undefined): InvoiceView {
  if (!built) throw new Error('there is an invoice')
  return invoiceView({
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
    customer_id: 'customer',
    billing_entity_id: 'entity',
    pricing_plan_subscription_id: 'subscription',
    on_hold: false,
    payment_status: 'UNPAID',
    ...UNTOUCHED,
    inputs_hash: '',
    finalize_at: null,
    updated_to_final_at: '2026-02-01T08:00:00Z',
    to_be_reprocessed_at: null,
    custom_fields: [],
  })
}

test('the PDF shows the custom fields of the parties that are copied, by their names', async () => {
  const copied = (type: string, more: object) => ({ resource: { type, id: 'x' }, id: 'f', reference: 'ref', ...more })
  const text = pdfText(
    await renderInvoicePdf(
      {
        ...finalInvoice(),
        other_custom_fields: [
          copied('CUSTOMER', { name: 'Cost center', value: 'North' }),
          copied('PRICING_PLAN_SUBSCRIPTION', { reference: 'contract', values: ['C-1', 'C-2'] }),
          copied('BILLING_ENTITY', { name: 'Desk', value: 'Room 4' }),
          copied('PRODUCT', { name: 'Internal', value: 'not for readers' }),
        ],
      },
      { compress: false },
    ),
  )
  for (const part of ['Cost center: North', 'contract: C-1, C-2', 'Desk: Room 4']) expect(text).toContain(part)
  expect(text).not.toContain('not for readers')
})

test('the PDF shows number, parties, quantity × price, tax, totals and footnote', async () => {
  const pdf = await renderInvoicePdf(finalInvoice(), { compress: false })
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
  const text = pdfText(pdf)
  for (const part of [
    'Invoice INV-2026-00001',
    'Acme',
    '2026-01-01 – 2026-01-31',
    'Tokens',
    '3450',
    '× 0.015 EUR / 1000',
    '0.05 EUR',
    'VAT 21 % on 100.05 EUR',
    '21.01 EUR',
    '121.06 EUR',
    'Thank you.',
  ]) {
    expect(text).toContain(part)
  }
  // The title of the file is the number as well.
  expect(pdf.toString('latin1')).toContain('(Invoice INV-2026-00001)')
})

test('an invoice without a number is shown as a draft', async () => {
  const pdf = await renderInvoicePdf({ ...finalInvoice(), invoice_number: null, status: 'DRAFT' }, { compress: false })
  expect(pdfText(pdf)).toContain('Draft invoice (DRAFT)')
})

test('the same invoice is the same file', async () => {
  const [first, second] = await Promise.all([renderInvoicePdf(finalInvoice()), renderInvoicePdf(finalInvoice())])
  expect(first.equals(second)).toBe(true)
})

const HOSTILE = [
  'A'.repeat(5_000),
  'شركة المثال \u202e evil \u2066x\u2069',
  'line\nbreak\r\n\u0000\u0007\u001b[31m',
  '</Title><script>alert(1)</script> (a) \\ )) ((',
  '\ud800 lone surrogate',
  '日本語 🎉 👩‍👩‍👧 é',
  '',
]

test.each(HOSTILE.map((name, index) => [index, name] as const))(
  'hostile name %i does not break the PDF',
  async (_index, name) => {
    const pdf = await renderInvoicePdf(finalInvoice({ customer: name, item: name, footnote: name }), {
      compress: false,
    })
    expect(pdf.subarray(-6).toString()).toContain('%%EOF')
    expect(pdfText(pdf)).toContain('121.06 EUR')
  },
)

test('printed text never holds control, bidirectional or invisible characters and is bounded', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const shown = printable(text)
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      expect([...printable(text.repeat(200))].length).toBeLessThanOrEqual(401)
    }),
  )
})

test('any text in any name gives a PDF', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 40 }), async name => {
      const pdf = await renderInvoicePdf(finalInvoice({ customer: name, item: name }))
      expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
    }),
    { numRuns: 15 },
  )
})

test('a line that is shared shows its bands in words, then each customer with its usage and its part', async () => {
  const bands = [{ amount: eur('0.10'), tier_top_bound: { number: '1000' } }, { amount: eur('0.08') }]
  const inputs = exampleInputs({
    start: '2026-01-01T00:00:00Z',
    items: [metered(bands, { pricing_type: 'TIERED' })],
    subscription: { display_invoice_sub_lines_per_processing_only_customer: true },
  })
  const organization = { legal_name: 'Subsidiary' }
  const sub_line_customers = [
    { id: 'child', reference: null, type: 'ORGANIZATION' as const, individual: null, organization },
  ]
  const sent = [
    { day: 1, quantity: '900', after: 0 },
    { day: 1, quantity: '300', after: 0, customerId: 'child' },
  ]
  const [priced] = closeInTurn({ ...inputs, sub_line_customers }, sent, 1)
  const text = pdfText(await renderInvoicePdf(viewOf(priced?.columns), { compress: false }))
  for (const part of ['116.00 EUR', '1000 × 0.1 EUR; 200 × 0.08 EUR', 'Subsidiary', '300', '29.00 EUR', '87.00 EUR'])
    expect(text).toContain(part)
})

test('discounts are lines of their own: what they are, from what, and what they deduct, without a quantity', async () => {
  const discount = {
    product_items: [{ ids: ['item0'], percentage: '10' }],
    totals: [{ amount: eur('15.00') }],
  }
  const inputs = exampleInputs({ start: '2026-01-01T00:00:00Z', items: [recurring('200')], schedules: [{ discount }] })
  const text = pdfText(await renderInvoicePdf(viewOf(exampleInvoices(inputs, 1)[0]), { compress: false }))
  for (const part of [
    'Discount of 10 % -20.00 EUR 10 % of 200 EUR',
    'Discount on the total -15.00 EUR Deducted from 180 EUR',
    'Total excluding tax 165.00 EUR VAT 21 % on 165.00 EUR 34.65 EUR Total 199.65 EUR',
  ])
    expect(text).toContain(part)
})
