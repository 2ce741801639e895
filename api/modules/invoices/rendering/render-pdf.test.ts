import fc from 'fast-check'
import { expect, test } from 'vitest'
import { closeInTurn } from '../../billing/testing/example-closing.ts'
import { eur, exampleInputs, metered, recurring } from '../../billing/testing/example-inputs.ts'
import type { InvoiceView } from '../schema.ts'
import { printable } from './model/printable.ts'
import { renderInvoicePdf } from './pdf/render-pdf.ts'
import { exampleDocument, finalView } from './testing/example-document.ts'
import { BRANDED } from './testing/fixtures.ts'
import { missingGlyphs, readPdf } from './testing/read-pdf.ts'

const items = [
  recurring('100'),
  {
    ...metered([{ amount: eur('0.015'), block_size: { number: '1000' } }]),
    item: { name: 'Tokens', model_type: 'USAGE_BASED' as const, meter_value_calculation_id: 'calc' },
  },
]
const seller = {
  legal_name: 'Millrace B.V.',
  registration_number: '12345678',
  tax_id: 'NL123456789B01',
  email: 'billing@example.com',
  registered_address: { line1: 'Mill 1', postal_code: '1000 AA', city: 'Amsterdam', country: 'NL' },
}
const customer = {
  organization: {
    legal_name: 'Acme',
    tax_id: 'NL1',
    registration_number: 'KVK 7',
    registered_address: { line1: 'Road 2', city: 'London', postal_code: 'W1', country: 'GB' },
  },
}
const invoice = exampleDocument({ items, seller, customer: { locale: 'en-GB' }, footnote: 'Thank you.' })
const textOf = async (of: InvoiceView, presentation = BRANDED): Promise<string> =>
  (await readPdf(await renderInvoicePdf(of, presentation))).text

test('shows seller and customer, number, dates, quantity and price, tax, totals, how to pay, notes and pages', async () => {
  const text = await textOf(exampleDocument({ items, seller, customer, footnote: 'Thank you.' }))
  for (const part of [
    'Invoice INV-2026-00001',
    'Millrace B.V. Mill 1 1000 AA Amsterdam Netherlands Tax ID: NL123456789B01 Registration number: 12345678 billing@example.com',
    'Acme Road 2 London W1 United Kingdom Tax ID: NL1 Registration number: KVK 7',
    'Invoice date January 31, 2026',
    'Due date March 2, 2026',
    'January 1 – 31, 2026',
    'Tokens Exactly EUR 0.05175, rounded to EUR 0.05 3,450 tokens EUR 0.015 per 1,000 EUR 0.05',
    'Total excluding tax EUR 100.05',
    'IBAN NL91 ABNA 0417 1643 00',
    'BIC ABNANL2A, ABN AMRO',
    'Payment reference INV-2026-00001',
    'https://pay.example.com/i/1',
    'Thank you.',
    'Page 1 of 1',
  ]) {
    expect(text).toContain(part)
  }
})

test('the tax summary has base, rate and tax; what is due stands at the top and in the totals', async () => {
  const text = await textOf(invoice)
  expect(text).toContain('Tax summary Rate Taxable amount Tax amount VAT 21 % EUR 100.05 EUR 21.01')
  expect(text.match(/Amount due EUR 121\.06/g)).toHaveLength(2)
})

test('the file has its title, its language, and tags for those who do not see it', async () => {
  const { title, language, roles } = await readPdf(await renderInvoicePdf(invoice, BRANDED))
  expect([title, language]).toEqual(['Invoice INV-2026-00001', 'en-GB'])
  for (const role of ['Document', 'H1', 'H2', 'P', 'Table', 'TR', 'TH', 'TD', 'Figure']) expect(roles).toContain(role)
})

test('DRAFT, VOID and PAID are marked, and only what is owed says where to pay', async () => {
  const with_ = (row: object) => textOf(exampleDocument({ items, row }))
  const draft = await with_({ status: 'DRAFT', invoice_number: null })
  expect(draft).toContain('DRAFT')
  expect(await with_({ status: 'VOID' })).toContain('VOID')
  const paid = await with_({ payment_status: 'PAID' })
  expect(paid).toContain('PAID')
  expect(paid).toContain('Paid EUR 121.06 Amount due EUR 0.00')
  for (const text of [draft, paid]) expect(text).not.toContain('IBAN')
  expect(await with_({})).not.toMatch(/PAID|DRAFT|VOID/)
})

test('what wallets paid after tax stands beside what was paid otherwise', async () => {
  const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
  const paid = { paid_invoice_amount: eur('60.00'), open_invoice_amount: eur('61.06') }
  const used = { amount: eur('50') }
  const wallet_balances = [{ wallet_id: 'wall_1', used_balance: used, left_balance: used, available_balance: used }]
  const text = await textOf({ ...invoice, ...paid, wallet_balances })
  expect(text).toContain('Paid from balance EUR 50.00 Paid EUR 10.00 Amount due EUR 61.06')
})

test('a credit note is the same document with another title, and has no payment instructions', async () => {
  const text = await textOf(exampleDocument({ items, row: { type: 'CREDIT', invoice_number: 'CN-1' } }))
  expect(text).toContain('Credit note CN-1')
  expect(text).toContain('Amount credited')
  expect(text).not.toMatch(/IBAN|Due date|Amount due/)
})

test('custom fields of the parties that are copied are shown by their names', async () => {
  const copied = (type: string, more: object) => ({ resource: { type, id: 'x' }, id: 'f', reference: 'ref', ...more })
  const text = await textOf({
    ...invoice,
    other_custom_fields: [
      copied('CUSTOMER', { name: 'Cost center', value: 'North' }),
      copied('PRICING_PLAN_SUBSCRIPTION', { reference: 'contract', values: ['C-1', 'C-2'] }),
      copied('BILLING_ENTITY', { name: 'Desk', value: 'Room 4' }),
      copied('PRODUCT', { name: 'Internal', value: 'not for readers' }),
    ],
  })
  for (const part of ['Cost center: North', 'contract: C-1, C-2', 'Desk: Room 4']) expect(text).toContain(part)
  expect(text).not.toContain('not for readers')
})

test('a line that is shared shows each customer with its usage and its part', async () => {
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
  const text = await textOf(finalView(priced?.columns))
  for (const part of ['EUR 116.00', 'Subsidiary 300 EUR 29.00', 'EUR 87.00']) expect(text).toContain(part)
})

test('a tier that goes by the number of events says so', async () => {
  const bands = [
    { amount: eur('0.10'), tier_top_bound: { count: '2' } },
    { amount: eur('0.08'), tier_top_bound: { count: '3' } },
    { amount: eur('0.05') },
  ]
  const inputs = exampleInputs({
    start: '2026-01-01T00:00:00Z',
    items: [metered(bands, { pricing_type: 'TIERED' })],
  })
  const sent = [1, 2, 3, 4].map(day => ({ day, quantity: '100', after: 0 }))
  const [priced] = closeInTurn(inputs, sent, 1)
  const text = await textOf(finalView(priced?.columns))
  for (const part of ['Up to 2 events', 'From 2 to 3 events', 'Above 3 events']) expect(text).toContain(part)
})

test('discounts are lines of their own: what they are, from what, and what they deduct, without a quantity', async () => {
  const discount = { product_items: [{ ids: ['item0'], percentage: '10' }], totals: [{ amount: eur('15.00') }] }
  const text = await textOf(exampleDocument({ items: [recurring('200')], schedules: [{ discount }] }))
  for (const part of [
    'Discount of 10 % 10 % of EUR 200.00 -EUR 20.00',
    'Discount on the total Deducted from EUR 180.00 -EUR 15.00',
  ])
    expect(text).toContain(part)
})

test('a document of many pages repeats its head, and numbers its pages', async () => {
  const lines = Array.from({ length: 400 }, (_, index) => recurring(String(index + 1)))
  const { pages } = await readPdf(await renderInvoicePdf(exampleDocument({ items: lines })))
  expect(pages.length).toBeGreaterThan(5)
  for (const [index, page] of pages.slice(1, -1).entries()) {
    expect(page).toContain('Invoice INV-2026-00001 (continued) Description Quantity Unit price Amount')
    expect(page).toContain(`Page ${index + 2} of ${pages.length}`)
  }
})

test('the same invoice is the same file', async () => {
  const [first, second] = await Promise.all([renderInvoicePdf(invoice, BRANDED), renderInvoicePdf(invoice, BRANDED)])
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

const namedBy = (name: string) =>
  exampleDocument({
    items: items.map(item => ({ ...item, item: { ...item.item, name } })),
    customer: { organization: { legal_name: name, registered_address: { country: 'NL' } } },
    footnote: name,
  })

test.each(HOSTILE.map((name, index) => [index, name] as const))(
  'hostile name %i does not break the PDF',
  async (_, name) => {
    const pdf = await renderInvoicePdf(namedBy(name), undefined, { compress: false })
    expect(pdf.subarray(-6).toString()).toContain('%%EOF')
    expect(missingGlyphs(pdf)).toBe(0)
    expect((await readPdf(pdf)).text).toContain('EUR 121.06')
  },
)

test('printed text never holds control, bidirectional or invisible characters but joiners, and is bounded', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const shown = printable(text)
      expect(shown.replace(/[\u200c\u200d]/g, '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      expect([...printable(text.repeat(200))].length).toBeLessThanOrEqual(401)
    }),
  )
})

test('any text in any name gives a PDF without a missing glyph', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 40 }), async name => {
      expect(missingGlyphs(await renderInvoicePdf(namedBy(name), undefined, { compress: false }))).toBe(0)
    }),
    // A letter whose dots have no place at it in the font.
    { numRuns: 15, examples: [['\u0760']] },
  )
})
