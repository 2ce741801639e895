// Discounts together with other features of an invoice: late usage, several tax categories, prices with tax, and no
// rounding.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import type { LineView } from '../../invoices/schema.ts'
import type { Discount } from '../../subscriptions/clauses/discount-schema.ts'
import { closeInTurn, linesIn } from '../testing/example-closing.ts'
import { type Example, eur, exampleInputs, exampleInvoices, metered, recurring } from '../testing/example-inputs.ts'

const START = '2026-01-01T00:00:00Z'
const inputsOf = (discount: Discount, example: Partial<Example>) =>
  exampleInputs({ start: START, items: [recurring('200')], ...example, schedules: [{ discount }] })
const texts = (lines: readonly LineView[]) =>
  lines.map(line => `${line.type}${line.late_for_invoice_id ? ' late' : ''} ${line.amount_excluding_tax.quantity}`)

describe('late usage', () => {
  const items = [metered([{ amount: eur('1') }])]
  const sent = [
    { day: 3, quantity: '100', after: 0 },
    { day: 4, quantity: '50', after: 1 },
    { day: 40, quantity: '10', after: 0 },
  ]

  test('gets no part of a fixed discount of its item: its own period already had it', () => {
    const discount = { product_items: [{ ids: ['item0'], amount: eur('20') }] }
    const [january, february] = closeInTurn(inputsOf(discount, { items }), sent, 2)
    if (!january || !february) throw new Error('two months are closed')
    expect(texts(linesIn(january))).toEqual(['REVENUE 100.00', 'DISCOUNT -20.00'])
    // The discount can deduct no more than February’s own 10.00.
    expect(texts(linesIn(february))).toEqual(['REVENUE late 50.00', 'REVENUE 10.00', 'DISCOUNT -10.00'])
    expect(february.columns.amount_excluding_tax).toBe('50')
  })

  test('gets its part of a percentage, and of a fixed discount on the total of the invoice that bills it', () => {
    const discount = {
      product_items: [{ ids: ['item0'], percentage: '10' }],
      totals: [{ amount: eur('5') }],
    }
    const [january, february] = closeInTurn(inputsOf(discount, { items }), sent, 2)
    expect(january?.columns.amount_excluding_tax).toBe('85')
    // 45.00 of January and 9.00 of February, less 5.00 once.
    expect(february?.columns.amount_excluding_tax).toBe('49')
  })

  test.each([
    [
      'of a minimum',
      {
        commitment: { pricing_item_configs: [{ ids: ['config0'], amount: eur('1'), end_at: '2026-02-01T00:00:00Z' }] },
      },
      [
        ['REVENUE 0.05', 'DISCOUNT -0.01', 'COMMITMENT 0.96'],
        ['REVENUE late 0.06', 'COMMITMENT -0.06'],
        ['REVENUE late 2.04', 'DISCOUNT -0.21', 'COMMITMENT -0.90'],
      ],
    ],
    ['alone', {}, [['REVENUE 0.05', 'DISCOUNT -0.01'], ['REVENUE late 0.06'], ['REVENUE late 2.04', 'DISCOUNT -0.21']]],
  ])('that arrives twice gets the percentage of the whole, rounded once: 0.22 of 2.15, %s', (_name, terms, lines) => {
    const discount = { pricing_item_configs: [{ ids: ['config0'], percentage: '10' }] }
    const schedules = [{ discount, ...terms }]
    const inputs = exampleInputs({ start: START, items: [metered([{ amount: eur('0.01') }])], schedules })
    const months = closeInTurn(
      inputs,
      [
        { day: 3, quantity: '5', after: 0 },
        { day: 4, quantity: '6', after: 1 },
        { day: 5, quantity: '204', after: 2 },
      ],
      3,
    )
    expect(months.map(month => texts(linesIn(month)))).toEqual(lines)
    expect(plain(sum(months.map(({ columns }) => decimal(columns.amount_excluding_tax))))).toBe('1.93')
  })

  test('that makes the whole cheaper gives back what was deducted of more', () => {
    const discount = { pricing_item_configs: [{ ids: ['config0'], percentage: '10' }] }
    const tiered = metered([{ amount: eur('1'), tier_top_bound: { number: '100' } }, { amount: eur('0.5') }], {
      pricing_type: 'TOP_TIERED',
    })
    const [january, february] = closeInTurn(inputsOf(discount, { items: [tiered] }), sent.slice(0, 2), 2)
    if (!january || !february) throw new Error('two months are closed')
    expect(texts(linesIn(january))).toEqual(['REVENUE 100.00', 'DISCOUNT -10.00'])
    // 75.00 less 7.50 is owed of January.
    expect(texts(linesIn(february))).toEqual(['REVENUE late -25.00', 'DISCOUNT 2.50'])
  })

  test('gets nothing of a discount that began after its period ended', () => {
    const discount = {
      product_items: [{ ids: ['item0'], percentage: '10', start_at: '2026-02-01T00:00:00Z' }],
    }
    const [, february] = closeInTurn(inputsOf(discount, { items }), sent, 2)
    expect(february && texts(linesIn(february))).toEqual(['REVENUE late 50.00', 'REVENUE 10.00', 'DISCOUNT -1.00'])
  })
})

describe('several tax categories', () => {
  const taxed = (quantity: string, tax_category: 'STANDARD' | 'EXEMPT' | 'NO_TAX') => {
    const item = recurring(quantity)
    return { ...item, item: { ...item.item, tax_category } }
  }

  test('share a discount on the total by their amounts, so that only its part lowers the tax', () => {
    const inputs = inputsOf(
      { totals: [{ amount: eur('15') }] },
      { items: [taxed('100', 'STANDARD'), taxed('50', 'EXEMPT')] },
    )
    const [invoice] = exampleInvoices(inputs, 1)
    expect(
      invoice?.content.tax_categories.map(each => [each.category, each.base_amount.quantity, each.tax_amount.quantity]),
    ).toEqual([
      ['STANDARD', '90.00', '18.90'],
      ['EXEMPT', '45.00', '0.00'],
    ])
    expect(invoice?.amount_including_tax).toBe('153.9')
  })

  test('share its last cent too: the parts sum to the discount', () => {
    const inputs = inputsOf(
      { totals: [{ amount: eur('10') }] },
      { items: [taxed('10', 'STANDARD'), taxed('10', 'EXEMPT'), taxed('10', 'NO_TAX')] },
    )
    const [invoice] = exampleInvoices(inputs, 1)
    expect(invoice?.amount_excluding_tax).toBe('20')
  })
})

test('where nothing is rounded the lines are exact, and the total is rounded once', () => {
  const inputs = inputsOf(
    { product_items: [{ ids: ['item0', 'item1', 'item2'], percentage: '10' }] },
    { items: [recurring('0.333'), recurring('0.333'), recurring('0.333')] },
  )
  const rounding_settings = [{ rounding_target: 'INVOICE', rounding_mode: 'UNROUNDED' }]
  const [exact] = exampleInvoices({ ...inputs, platform: { ...inputs.platform, rounding_settings } }, 1)
  const lines = exact?.content.periods.flatMap(({ groups }) => groups.flatMap(group => group.lines)) ?? []
  expect(sum(lines.map(line => decimal(line.amount_excluding_tax.quantity))).toFixed()).toBe('0.8991')
  expect(exact?.amount_excluding_tax).toBe('0.9')
})

const money = fc.integer({ min: 0, max: 100_000 }).map(cents => (cents / 100).toFixed(2))
const value = fc.oneof(
  fc.integer({ min: 0, max: 10_000 }).map(hundredths => ({ percentage: (hundredths / 100).toFixed(2) })),
  fc.integer({ min: 1, max: 50_000 }).map(cents => ({ amount: eur((cents / 100).toFixed(2)) })),
)
const anyItem = fc.constantFrom('item0', 'item1', 'item2')
const anyDiscount = fc.record({
  product_items: fc.array(
    fc.tuple(fc.uniqueArray(anyItem, { minLength: 1, maxLength: 3 }), value).map(([ids, of]) => ({ ids, ...of })),
    { maxLength: 3 },
  ),
  products: fc.array(
    value.map(of => ({ ids: ['product'], ...of })),
    { maxLength: 2 },
  ),
  totals: fc.array(value, { maxLength: 2 }),
})

test('whatever the discounts, lines and taxes sum to the invoice, and no category is given more than it has', () => {
  fc.assert(
    fc.property(
      fc.record({
        discount: anyDiscount,
        prices: fc.tuple(money, money, money),
        categories: fc.tuple(
          ...[0, 1, 2].map(() => fc.constantFrom('STANDARD' as const, 'EXEMPT' as const, 'NO_TAX' as const)),
        ),
        amountType: fc.constantFrom('EXCLUDING_TAX' as const, 'INCLUDING_TAX' as const),
      }),
      ({ discount, prices, categories, amountType }) => {
        const items = prices.map((price, index) => {
          const item = recurring(price)
          return { ...item, item: { ...item.item, tax_category: categories[index] ?? 'STANDARD' } }
        })
        const [invoice] = exampleInvoices(inputsOf(discount, { items, amountType }), 1)
        if (!invoice) throw new Error('there is an invoice')
        const lines = invoice.content.periods.flatMap(({ groups }) => groups.flatMap(group => group.lines))
        const summed = (name: 'amount_excluding_tax' | 'amount_including_tax') =>
          sum(lines.map(line => decimal(line[name].quantity))).toFixed(2)
        expect(summed('amount_excluding_tax')).toBe(decimal(invoice.amount_excluding_tax).toFixed(2))
        expect(summed('amount_including_tax')).toBe(decimal(invoice.amount_including_tax).toFixed(2))
        for (const { base_amount, tax_amount } of invoice.content.tax_categories) {
          expect(decimal(base_amount.quantity).gte(ZERO)).toBe(true)
          expect(decimal(tax_amount.quantity).gte(ZERO)).toBe(true)
        }
        for (const line of lines)
          expect(decimal(line.amount_excluding_tax.quantity).lte(ZERO)).toBe(
            line.type === 'DISCOUNT' || line.amount_excluding_tax.quantity === '0.00',
          )
      },
    ),
    { numRuns: 300 },
  )
})
