import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEngineAnswer } from '../../../../../shared/billing/tax/tax-engine.ts'
import { decimal, plain } from '../../../../../shared/decimal.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { eur, exampleInputs, metered, recurring } from '../../../billing/testing/example-inputs.ts'
import type { Parties } from '../../document/parties.ts'
import { engineQuestionKey, engineQuestionOf } from '../../document/tax/engine-question.ts'
import type { InvoiceView } from '../../schema.ts'
import { exampleDocument } from '../testing/example-document.ts'
import { describeEInvoice } from './describe-e-invoice.ts'
import type { EInvoice, Vat } from './e-invoice-model.ts'
import { brokenRules } from './rules.ts'
import { creditOf, EXAMPLES, inCurrency, PRESENTATION, SELLER } from './testing/examples.ts'

const exampleOf = (name: string): InvoiceView => {
  const found = EXAMPLES[name]
  if (!found) throw new Error(`there is no example ${name}`)
  return found
}
const described = (name: string): EInvoice => describeEInvoice(exampleOf(name), PRESENTATION)

const vatText = ({ category, rate }: Vat): string => (rate === null ? category : `${category} ${plain(rate)}`)

/** An e-invoice as a few lines that can be checked by eye. */
function summary({ lines, adjustments, vat, totals }: EInvoice): string[] {
  return [
    ...lines.map(
      ({ quantity, price, baseQuantity, net, vat: of }) =>
        `${plain(quantity)} × ${plain(price)}${plain(baseQuantity) === '1' ? '' : ` / ${plain(baseQuantity)}`} = ${plain(net)} ${vatText(of)}`,
    ),
    ...adjustments.map(({ kind, reason, amount, vat: of }) => `${kind} ${reason}: ${plain(amount)} ${vatText(of)}`),
    ...vat.map(
      row => `${vatText(row.vat)}: ${plain(row.tax)} of ${plain(row.base)}${row.reason ? ` (${row.reason})` : ''}`,
    ),
    `due ${plain(totals.gross)} - ${plain(totals.prepaid)} = ${plain(totals.payable)}`,
  ]
}

const REVERSE =
  'Reverse charge: VAT to be accounted for by the recipient (Article 196 of Council Directive 2006/112/EC).'

test.each<[string, string[]]>([
  [
    'home-vat',
    ['1 × 100 = 100 S 21', '3450 × 0.015 / 1000 = 0.05 S 21', 'S 21: 21.01 of 100.05', 'due 121.06 - 0 = 121.06'],
  ],
  ['unit-price', ['3450 × 0.02 = 69 S 21', 'S 21: 14.49 of 69', 'due 83.49 - 0 = 83.49']],
  // No single price gives the amount of the tiers.
  ['tiers', ['1 × 200 = 200 S 21', '1 × 299.02 = 299.02 S 21', 'S 21: 104.79 of 499.02', 'due 603.81 - 0 = 603.81']],
  [
    'reverse-charge',
    [
      '1 × 100 = 100 AE 0',
      '3450 × 0.015 / 1000 = 0.05 AE 0',
      `AE 0: 0 of 100.05 (${REVERSE})`,
      'due 100.05 - 0 = 100.05',
    ],
  ],
  [
    'export',
    [
      '1 × 100 = 100 G 0',
      '3450 × 0.015 / 1000 = 0.05 G 0',
      'G 0: 0 of 100.05 (No tax charged: supplied to a customer outside the tax territory of the seller.)',
      'due 100.05 - 0 = 100.05',
    ],
  ],
  [
    'exempt-customer',
    [
      '1 × 100 = 100 E 0',
      '3450 × 0.015 / 1000 = 0.05 E 0',
      'E 0: 0 of 100.05 (Article 132)',
      'due 100.05 - 0 = 100.05',
    ],
  ],
  // Beside another category, what is not subject to tax is an exemption: one row for both.
  [
    'several-rates',
    [
      '1 × 100 = 100 S 21',
      '1 × 40 = 40 E 0',
      '1 × 60 = 60 E 0',
      'S 21: 21 of 100',
      'E 0: 0 of 100 (Not subject to tax. Exempt from tax.)',
      'due 221 - 0 = 221',
    ],
  ],
  ['not-subject', ['1 × 60 = 60 O', 'O: 0 of 60 (Not subject to tax.)', 'due 60 - 0 = 60']],
  [
    'discounts',
    [
      '1 × 100 = 100 S 21',
      '3450 × 0.015 / 1000 = 0.05 S 21',
      'ALLOWANCE Discount of 10 %: 10 S 21',
      'ALLOWANCE Discount on the total: 15 S 21',
      'S 21: 15.76 of 75.05',
      'due 90.81 - 0 = 90.81',
    ],
  ],
  ['minimum', ['100 × 0.02 = 2 S 21', 'CHARGE Minimum: 48 S 21', 'S 21: 10.5 of 50', 'due 60.5 - 0 = 60.5']],
  // An e-invoice has at least one line.
  ['minimum-only', ['1 × 50 = 50 S 21', 'S 21: 10.5 of 50', 'due 60.5 - 0 = 60.5']],
  ['deduction', ['1 × 100 = 100 S 21', '-1 × 30 = -30 S 21', 'S 21: 14.7 of 70', 'due 84.7 - 0 = 84.7']],
  [
    'including-tax',
    [
      '1 × 82.64 = 82.64 S 21',
      '1 × 0.01 = 0.01 S 21',
      '1 × 27.54 = 27.54 S 21',
      'S 21: 23.14 of 110.19',
      'due 133.33 - 0 = 133.33',
    ],
  ],
  ['yen', ['1 × 1000 = 1000 S 21', 'S 21: 210 of 1000', 'due 1210 - 0 = 1210']],
  [
    'refund-of-another-tax',
    [
      '-1 × 51.61 = -51.61 S 21',
      '1 × 100 = 100 AE 0',
      `AE 0: 0 of 100 (${REVERSE})`,
      'S 21: -10.84 of -51.61',
      'due 37.55 - 0 = 37.55',
    ],
  ],
  [
    'credit-of-a-refund-of-another-tax',
    [
      '-1 × 51.61 = -51.61 S 21',
      '1 × 100 = 100 AE 0',
      `AE 0: 0 of 100 (${REVERSE})`,
      'S 21: -10.84 of -51.61',
      'due 37.55 - 0 = 37.55',
    ],
  ],
  [
    'refund-of-a-reverse-charge',
    [
      '-1 × 51.61 = -51.61 AE 0',
      '1 × 100 = 100 E 0',
      'E 0: 0 of 100 (Article 132)',
      `AE 0: 0 of -51.61 (${REVERSE})`,
      'due 48.39 - 0 = 48.39',
    ],
  ],
  [
    'credit-of-discounts',
    [
      '1 × 100 = 100 S 21',
      '1 × 0.05 = 0.05 S 21',
      'ALLOWANCE Discount of 10 %: 10 S 21',
      'ALLOWANCE Discount on the total: 15 S 21',
      'S 21: 15.76 of 75.05',
      'due 90.81 - 0 = 90.81',
    ],
  ],
])('%s', (name, expected) => {
  expect(summary(described(name))).toEqual(expected)
})

test('what was paid is prepaid, and then nothing has to be transferred', () => {
  const [paid, partly] = [described('paid'), described('partly-paid')]
  expect([plain(paid.totals.prepaid), plain(paid.totals.payable), paid.accounts]).toEqual(['121.06', '0', []])
  expect([plain(partly.totals.prepaid), plain(partly.totals.payable)]).toEqual(['20', '101.06'])
  expect(partly.accounts).toEqual([{ iban: 'NL91ABNA0417164300', holder: 'Millrace B.V.', bic: 'ABNANL2A' }])
})

test('dates are days of the invoice, and the purchase order and the notes are there', () => {
  expect(described('home-vat')).toMatchObject({
    kind: 'INVOICE',
    number: 'INV-2026-00001',
    issueDate: '2026-01-31',
    dueDate: '2026-03-02',
    period: { first: '2026-01-01', last: '2026-01-31' },
    orderReference: 'PO-7',
    notes: ['Thank you.'],
    preceding: null,
  })
})

test('parties have their country, VAT id with its prefix, registration number and electronic address', () => {
  const { seller, buyer } = described('home-vat')
  expect(seller).toMatchObject({
    name: 'Mühle & Söhne <B.V.>',
    vatId: 'NL123456789B01',
    registrationNumber: '12345678',
    electronicAddress: { scheme: 'EM', id: 'billing@example.com' },
    address: { line1: 'Mill 1', city: 'Amsterdam', postalCode: '1000 AA', country: 'NL' },
  })
  expect(buyer).toMatchObject({ name: 'Acme & Co', vatId: 'NL123456789', reference: 'acme' })
  expect(described('individual').buyer).toMatchObject({ name: 'Ada de Vries', vatId: null })
})

test.each([
  ['123456789B01', 'NL', 'NL123456789B01', '9944'],
  ['EL 123.456.789', 'GR', 'EL123456789', '9933'],
  ['123456789', 'GR', 'EL123456789', '9933'],
  ['B12345678', 'ES', 'ESB12345678', '9920'],
  ['che-123.456.789', 'CH', 'CHE123456789', '9927'],
])('the VAT id %s in %s is %s, an address in scheme %s', (tax_id, country, vatId, scheme) => {
  const invoice = exampleDocument({
    items: [recurring('10')],
    seller: SELLER,
    customer: { organization: { legal_name: 'Acme', tax_id, registered_address: { country } } },
  })
  expect(describeEInvoice(invoice, PRESENTATION).buyer).toMatchObject({
    vatId,
    electronicAddress: { scheme, id: vatId },
  })
})

test('category O leaves out the VAT ids of both parties', () => {
  const { seller, buyer } = described('not-subject')
  expect([seller.vatId, seller.taxRegistration, buyer.vatId]).toEqual([null, null, null])
})

test('a credit note is positive, names the invoice that it credits, and nothing of it is to be transferred', () => {
  expect(described('credit')).toMatchObject({
    kind: 'CREDIT_NOTE',
    number: 'CN-2026-00001',
    dueDate: null,
    preceding: { number: 'INV-2026-00001', date: '2026-01-31' },
    accounts: [],
    notes: ['Wrong price.'],
  })
})

test('the bands of a line are explained in the language of the customer', () => {
  const [, tiers] = described('german').lines
  expect(tiers?.note).toContain('Menge: 3.450')
  expect(tiers?.note).toContain('Bis 1.000')
})

describe('refuses', () => {
  const base = exampleOf('home-vat')
  const party = (name: 'customer' | 'billing_entity', more: Record<string, unknown>) => ({
    ...base,
    [name]: { ...base[name], ...more },
  })
  test.each<[string, InvoiceView, string]>([
    ['a draft', { ...base, status: 'DRAFT' }, 'status'],
    ['a void invoice', { ...base, status: 'VOID' }, 'status'],
    ['an invoice without a number', { ...base, invoice_number: null }, 'invoice_number'],
    [
      'a seller without a country',
      party('billing_entity', { registered_address: null }),
      'billing_entity.registered_address.country',
    ],
    [
      'a buyer without a country',
      party('customer', { organization: { legal_name: 'Acme' } }),
      'customer.organization.registered_address.country',
    ],
    ['VAT without a tax id of the seller', party('billing_entity', { tax_id: null }), 'billing_entity.tax_id'],
    [
      'reverse charge without an id of the buyer',
      {
        ...exampleOf('reverse-charge'),
        customer: { ...party('customer', { organization: { registered_address: { country: 'DE' } } }).customer },
      },
      'customer.organization.tax_id',
    ],
    [
      'sales tax, which is not VAT',
      party('billing_entity', { registered_address: { country: 'US' } }),
      'tax_categories',
    ],
    [
      'three decimals',
      JSON.parse(JSON.stringify(inCurrency(base, 'KWD')).replaceAll('"100.05"', '"100.051"')),
      'billing_currency',
    ],
    [
      'totals that do not add up',
      { ...base, invoice_amount_including_tax: eur('121.07') },
      'invoice_amount_including_tax',
    ],
  ])('%s', (_, invoice, field) => {
    const refusal = (() => {
      try {
        return describeEInvoice(invoice, PRESENTATION)
      } catch (error) {
        return error
      }
    })()
    expect(refusal).toBeInstanceOf(AppError)
    expect(refusal).toMatchObject({ code: 'INVALID_OPERATION', details: { field } })
  })
})

const cents = fc.integer({ min: 0, max: 999_999_999 }).map(units => plain(decimal(String(units)).times('0.001')))
const invoices = fc
  .record({
    fixed: fc.array(cents, { minLength: 1, maxLength: 5 }),
    price: cents,
    usage: fc.integer({ min: 0, max: 1_000_000 }),
    percentage: fc.integer({ min: 1, max: 100 }),
    off: cents,
    amountType: fc.constantFrom('EXCLUDING_TAX' as const, 'INCLUDING_TAX' as const),
    unrounded: fc.boolean(),
    country: fc.constantFrom('NL', 'DE', 'US'),
    categories: fc.array(fc.constantFrom('STANDARD', 'EXEMPT', 'NO_TAX'), { minLength: 5, maxLength: 5 }),
    credit: fc.boolean(),
  })
  .map(({ credit, ...of }) => {
    const document = exampleDocument({
      items: [
        ...of.fixed.map((amount, index) => ({
          ...recurring(amount),
          item: { model_type: 'RECURRING' as const, tax_category: of.categories[index] ?? null },
        })),
        metered([{ amount: eur(of.price) }]),
      ],
      schedules: [
        {
          discount: {
            product_items: [{ ids: ['item0'], percentage: String(of.percentage) }],
            totals: [{ amount: eur(of.off) }],
          },
        },
      ],
      amountType: of.amountType,
      usage: String(of.usage),
      seller: SELLER,
      rounding: of.unrounded ? 'UNROUNDED' : 'DEFAULT',
      customer: {
        organization: {
          legal_name: 'Acme',
          tax_id: `${of.country}123456789`,
          registered_address: { country: of.country },
        },
      },
    })
    return credit && decimal(document.invoice_amount_including_tax.quantity).gt('0') ? creditOf(document) : document
  })

test('whatever is billed adds up by the rules BR-CO-10 to BR-CO-17', () => {
  fc.assert(
    fc.property(invoices, invoice => {
      const of = describeEInvoice(invoice, PRESENTATION)
      expect(brokenRules(of)).toEqual([])
      expect(
        of.lines.every(({ quantity, price, baseQuantity, net }) => {
          const product = quantity.times(price).div(baseQuantity)
          return product.minus(net).abs().lte('0.005')
        }),
      ).toBe(true)
    }),
    { numRuns: 40 },
  )
})

const valid = described('discounts')
const [firstLine] = valid.lines
const [firstRow] = valid.vat
const one = decimal('1')

test.each<[string, Partial<EInvoice>]>([
  ['BR-DEC', { totals: { ...valid.totals, prepaid: decimal('0.001'), payable: valid.totals.payable.minus('0.001') } }],
  ['BR-16', { lines: [] }],
  ['BR-27', { lines: valid.lines.map(line => ({ ...line, price: one.neg() })) }],
  ['BR-30', { period: { first: valid.issueDate, last: '2025-01-01' as typeof valid.issueDate } }],
  ['BR-CO-10', { lines: valid.lines.map(line => ({ ...line, net: line.net.plus(one) })) }],
  ['BR-CO-13', { totals: { ...valid.totals, allowances: one } }],
  ['BR-CO-14', { totals: { ...valid.totals, tax: one } }],
  ['BR-CO-15', { totals: { ...valid.totals, gross: one } }],
  ['BR-CO-16', { totals: { ...valid.totals, payable: one } }],
  ['BR-CO-17', { vat: valid.vat.map(row => ({ ...row, tax: row.tax.plus('1.01') })) }],
  ['BR-S-8', { vat: valid.vat.map(row => ({ ...row, base: row.base.plus('0.01') })) }],
  ['BR-CO-18', { vat: firstRow ? [firstRow, firstRow] : [] }],
  ['BR-CO-25', { dueDate: null }],
  ['BR-O-11', { vat: firstRow ? [firstRow, { ...firstRow, vat: { category: 'O', rate: null } }] : [] }],
  ['BR-S-5', { lines: firstLine ? [{ ...firstLine, vat: { category: 'E', rate: decimal('21') } }] : [] }],
])('a file that breaks %s is found out', (name, broken) => {
  expect(brokenRules({ ...valid, ...broken }).map(({ message }) => message.split(':')[0])).toContain(name)
})

describe('tax by an engine outside', () => {
  const NO_PARTY = { line1: null, line2: null, city: null, postal_code: null, state: null }
  /** The first example as an engine that gave this answer would have it. */
  const answered = (json: object, customer: Record<string, unknown> = {}): EInvoice => {
    const between = exampleInputs({ items: [recurring('100')], start: '2026-01-01T00:00:00Z' })
    const parties = {
      customer: {
        ...between.customer,
        type: 'ORGANIZATION',
        organization: { legal_name: 'Acme', registered_address: { ...NO_PARTY, country: 'NL' }, ...customer },
      },
      billing_entity: { ...between.billing_entity, ...SELLER, tax_settings: { provider: 'EXTERNAL' } },
    } as unknown as Parties
    const answer = readEngineAnswer(json)
    const answers = ['2026-01-31', '2026-02-01'].map(on => {
      const key = engineQuestionKey(
        engineQuestionOf({ parties, on: on as never, billingType: 'DEFAULT', country: 'NL' }),
      )
      return { key, on, as_of: on, answer, fault: null }
    })
    const view = exampleDocument({
      items: [recurring('100')],
      seller: parties.billing_entity as never,
      customer: parties.customer as never,
      inputs: { tax_answers: answers },
    })
    expect(view.validation_result.filter(({ status }) => status === 'ERROR')).toEqual([])
    return describeEInvoice(view, PRESENTATION)
  }

  test('a supply that is taxed at zero is of the category Z, with that rate and no reason', () => {
    const found = answered({ treatment: 'TAXED', rates: [{ name: 'VAT', percentage: '0' }] })
    expect(summary(found).slice(-2)).toEqual(['Z 0: 0 of 100', 'due 100 - 0 = 100'])
    expect(brokenRules(found)).toEqual([])
  })

  test('an exempt customer keeps its own note as the reason', () => {
    const found = answered({ treatment: 'EXEMPT' }, { tax_exempt_note: 'Article 132' })
    expect(summary(found).slice(-2)).toEqual(['E 0: 0 of 100 (Article 132)', 'due 100 - 0 = 100'])
    expect(brokenRules(found)).toEqual([])
  })
})
