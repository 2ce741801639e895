// Discounts of schedules on invoices: which lines they make, from what, and the resulting totals.
import { describe, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import type { Discount } from '../../subscriptions/clauses/discount-schema.ts'
import type { AdvanceCharge } from '../refunds/refunds.ts'
import { inputsHashOf } from '../terms/billing-inputs.ts'
import { type Example, eur, exampleInputs, exampleInvoices, metered, recurring } from '../testing/example-inputs.ts'
import { refundedMonth } from '../testing/refunded-month.ts'
import { withTaken } from './deducted.ts'

const START = '2026-01-01T00:00:00Z'
const invoiceOf = (example: Partial<Example> & { discount: Discount | null }, count = 1, usage = '0') =>
  exampleInvoices(
    exampleInputs({
      start: START,
      items: [recurring('200')],
      ...example,
      schedules: [{ discount: example.discount }],
    }),
    count,
    usage,
  ).at(-1)

/** Every line with its type, period and amount. */
const shown = (invoice: ReturnType<typeof invoiceOf>) =>
  (invoice?.content.periods ?? []).flatMap(period =>
    period.groups.flatMap(group =>
      group.lines.map(
        line =>
          `${period.start_at.slice(5, 10)}..${period.end_at.slice(5, 10)} ${group.type} ${line.description}: ${line.amount_excluding_tax.quantity}`,
      ),
    ),
  )
const totals = (invoice: ReturnType<typeof invoiceOf>) =>
  [invoice?.amount_excluding_tax, invoice?.tax_amount, invoice?.amount_including_tax].join(' ')

const G: Discount = {
  product_items: [{ ids: ['item0'], percentage: '10' }],
  totals: [{ amount: eur('15.00') }],
}

describe('discounts of a schedule', () => {
  test('10 % of an item of 200 and then 15.00 of the total is 165.00, taxed at 21 % as 199.65', () => {
    const invoice = invoiceOf({ discount: G })
    expect(shown(invoice)).toEqual([
      '01-01..02-01 PRICING Tokens: 200.00',
      '01-01..02-01 PRICING Discount of 10 %: -20.00',
      '01-01..02-01 DISCOUNT Discount on the total: -15.00',
    ])
    expect(totals(invoice)).toBe('165 34.65 199.65')
    const lines = invoice?.content.periods.flatMap(({ groups }) => groups.flatMap(group => group.lines)) ?? []
    expect(lines.map(line => [line.type, line.discount_type, line.clause, line.details.description])).toEqual([
      ['REVENUE', undefined, undefined, expect.any(String)],
      ['DISCOUNT', 'PRODUCT_ITEM', 'discount.product_items.0', '10 % of 200 EUR'],
      ['DISCOUNT', 'TOTAL', 'discount.totals.0', 'Deducted from 180 EUR'],
    ])
  })

  test('an amount of the total is deducted once on a quarterly invoice of three monthly periods, after all of them', () => {
    const month = { type: 'MONTH', value: 1 } as const
    const invoice = invoiceOf({
      items: [recurring('100', { billing_period: month })],
      subscription: { billing_period: { type: 'MONTH', value: 3 } },
      discount: { totals: [{ amount: eur('15') }] },
    })
    expect(shown(invoice)).toEqual([
      '01-01..02-01 PRICING Tokens: 100.00',
      '02-01..03-01 PRICING Tokens: 100.00',
      '03-01..04-01 PRICING Tokens: 100.00',
      '01-01..04-01 DISCOUNT Discount on the total: -15.00',
    ])
    expect(totals(invoice)).toBe('285 59.85 344.85')
  })

  test('a discount of other things, or of another time, makes no line, and nothing to discount makes none', () => {
    const none: Discount[] = [
      { product_items: [{ ids: ['other'], percentage: '10' }] },
      { totals: [{ percentage: '10', start_at: '2026-02-01T00:00:00Z' }] },
      { totals: [{ percentage: '0' }] },
      { totals: [{ amount: eur('5'), condition: { comparator: 'GREATER_THAN', value: { amount: eur('200') } } }] },
    ]
    for (const discount of none) expect(totals(invoiceOf({ discount })), JSON.stringify(discount)).toBe('200 42 242')
    expect(shown(invoiceOf({ items: [metered([{ amount: eur('1') }])], discount: G }))).toEqual([])
  })

  test('a discount that ends within the period counts by days, and its line says so', () => {
    const discount = { pricings: [{ ids: ['pricing'], percentage: '31', end_at: '2026-01-11T00:00:00Z' }] }
    const invoice = invoiceOf({ discount })
    expect(shown(invoice)[1]).toBe('01-01..02-01 PRICING Discount of 31 %: -20.00')
    expect(invoice?.content.periods[0]?.groups[0]?.lines[1]?.details.description).toMatch(/^31 % of 200 EUR, for /)
  })

  test('with prices that include tax a discount is of the price with tax', () => {
    expect(totals(invoiceOf({ discount: G, amountType: 'INCLUDING_TAX' }))).toBe('136.36 28.64 165')
  })

  test('the inputs hash of an invoice covers its discounts', () => {
    const hash = (discount: Discount | null) =>
      inputsHashOf(exampleInputs({ start: START, items: [recurring('1')], schedules: [{ discount }] }))
    expect(hash(G)).not.toBe(hash(null))
    expect(hash(G)).not.toBe(hash({ ...G, totals: [{ amount: eur('15.01') }] }))
  })
})

describe('an amount on a fee ahead and on usage afterwards', () => {
  const ahead = (quantity: string, config: Parameters<typeof recurring>[1] = {}) =>
    recurring(quantity, { billing_in_advance: true, ...config })
  const usage = metered([{ amount: eur('1') }])
  const MONTH = { type: 'MONTH', value: 1 } as const
  const QUARTER = { type: 'MONTH', value: 3 } as const
  const onBoth = { ids: ['item0', 'item1', 'item2'], amount: eur('30') }
  type Terms = { readonly discount?: Discount; readonly example: Partial<Example> }
  const CASES: readonly (readonly [string, Terms, string[][]])[] = [
    // January: 30 off the fee of 50 leave nothing for its usage of 200.
    [
      'is deducted once for a month',
      { example: { items: [ahead('50'), usage] } },
      [['01-01..02-01 -30.00'], ['02-01..03-01 -30.00'], ['03-01..04-01 -30.00']],
    ],
    // The fee takes 20 of the 30, its usage the other 10.
    [
      'is deducted from usage as far as the fee left it',
      { example: { items: [ahead('20'), usage] } },
      [['01-01..02-01 -20.00'], ['01-01..02-01 -10.00', '02-01..03-01 -20.00']],
    ],
    [
      'of two such discounts each is deducted once',
      {
        discount: { product_items: [onBoth, { ...onBoth, amount: eur('5') }] },
        example: { items: [ahead('32'), usage] },
      },
      [
        ['01-01..02-01 -30.00', '01-01..02-01 -2.00'],
        ['01-01..02-01 -3.00', '02-01..03-01 -30.00', '02-01..03-01 -2.00'],
      ],
    ],
    // 15 of 31 days of a fee of 31 are 15; an amount is deducted in full in a part of a month: 15, then the other 15.
    [
      'is deducted once for a first month that is a part',
      { example: { start: '2026-01-17T00:00:00Z', items: [ahead('31'), usage] } },
      [['01-17..02-01 -15.00'], ['01-17..02-01 -15.00', '02-01..03-01 -30.00']],
    ],
    // Until 16 January it is 15/31 of 31, which is 15: 10 off the fee and 5 off the usage.
    [
      'that ends within the month is deducted once for its days',
      {
        discount: { product_items: [{ ...onBoth, amount: eur('31'), end_at: '2026-01-16T00:00:00Z' }] },
        example: { items: [ahead('10'), usage] },
      },
      [['01-01..02-01 -10.00'], ['01-01..02-01 -5.00']],
    ],
    // The first month begins with the quarter of the fee, so its usage gets what the fee left: nothing.
    [
      'is deducted for each other month of usage under a fee of a quarter',
      {
        example: {
          subscription: { billing_period: QUARTER },
          items: [ahead('300'), { ...usage, config: { pricing_type: 'FLAT', pricing_period: MONTH } }],
        },
      },
      [['01-01..04-01 -30.00'], ['02-01..03-01 -30.00', '03-01..04-01 -30.00', '04-01..07-01 -30.00']],
    ],
    // Fees of 20 and 4, the second one exempt: 24 of the 30, then 6.
    [
      'over two tax categories is deducted once',
      {
        example: {
          items: [ahead('20'), usage, { ...ahead('4'), item: { model_type: 'RECURRING', tax_category: 'EXEMPT' } }],
        },
      },
      [
        ['01-01..02-01 -20.00', '01-01..02-01 -4.00'],
        ['01-01..02-01 -6.00', '02-01..03-01 -20.00', '02-01..03-01 -4.00'],
      ],
    ],
  ]
  const deductions = (invoice: ReturnType<typeof invoiceOf>, inclusive: boolean) =>
    (invoice?.content.periods ?? []).flatMap(period =>
      period.groups.flatMap(group =>
        group.lines.flatMap(line => {
          const { quantity } = inclusive ? line.amount_including_tax : line.amount_excluding_tax
          return line.type === 'DISCOUNT'
            ? [`${period.start_at.slice(5, 10)}..${period.end_at.slice(5, 10)} ${quantity}`]
            : []
        }),
      ),
    )
  describe.each(['EXCLUDING_TAX', 'INCLUDING_TAX'] as const)('%s', amountType => {
    test.each(CASES)('%s', (_name, { discount = { product_items: [onBoth] }, example }, expected) => {
      const inputs = exampleInputs({ start: START, items: [], ...example, amountType, schedules: [{ discount }] })
      const invoices = exampleInvoices(inputs, expected.length, '200')
      expect(invoices.map(invoice => deductions(invoice, amountType === 'INCLUDING_TAX'))).toEqual(expected)
    })
  })

  // [name, fees, when it was cancelled, amounts of the last invoice in the order of its lines]
  const sharesOfDays = [
    // 70 were paid: 35 of them go back, and with them 15 of the 30. The usage gets these.
    ['half of the days', [ahead('100')], '15', ['200.00', '-35.00', '-15.00'], '150'],
    // 27 of 28 days of 30 are 28.93.
    ['all days but one', [ahead('100')], '02', ['200.00', '-67.50', '-28.93'], '103.57'],
    // A fee of 20 had 20 of the 30: nothing was paid, 10 go back, and 10 were never taken.
    ['a fee that cost nothing', [ahead('20')], '15', ['200.00', '0.00', '-20.00'], '180'],
    // 15 and 15 of the 30, the second one exempt: half of both.
    [
      'two fees',
      [ahead('50'), { ...ahead('50'), item: { model_type: 'RECURRING', tax_category: 'EXEMPT' } as const }],
      '15',
      ['200.00', '-17.50', '-17.50', '-15.00'],
      '150',
    ],
  ] as const
  describe.each(['EXCLUDING_TAX', 'INCLUDING_TAX'] as const)('that is refunded, %s', amountType => {
    test.each(sharesOfDays)('gives the usage its part: %s', (_name, fees, day, expected, total) => {
      const { lines, invoice } = refunded({ items: [usage, ...fees], amountType }, day)
      const inclusive = amountType === 'INCLUDING_TAX'
      const quantities = lines.map(line => (inclusive ? line.amount_including_tax : line.amount_excluding_tax).quantity)
      expect(quantities.toSorted()).toEqual(expected.toSorted())
      expect(invoice[inclusive ? 'amount_including_tax' : 'amount_excluding_tax']).toBe(total)
    })
  })

  test('with two fees and one refund, only the discount on the refunded fee is given back', () => {
    // 15 of the 30 are of it, half of them go back.
    const { lines } = refunded(
      { items: [usage, ahead('50'), ahead('50')] },
      '15',
      ({ configId }) => configId === 'config1',
    )
    expect(lines.map(line => line.amount_excluding_tax.quantity)).toEqual(
      expect.arrayContaining(['200.00', '-17.50', '-7.50']),
    )
  })

  test('a fee that a credit note gave back in full gives no discount back, so the usage gets none', () => {
    const credited = ({ configId }: AdvanceCharge) => configId === null
    const { lines } = refunded({ items: [usage, ahead('100')] }, '15', credited)
    expect(lines.map(line => line.amount_excluding_tax.quantity)).toEqual(['200.00'])
  })

  const refunded = (example: Partial<Example>, day: string, isRefunded?: (charged: AdvanceCharge) => boolean) => {
    const { columns } = refundedMonth(
      { ...example, schedules: [{ discount: { product_items: [onBoth] } }] },
      day,
      isRefunded,
    )
    return {
      invoice: columns,
      lines: columns.content.periods.flatMap(({ groups }) => groups.flatMap(group => group.lines)),
    }
  }

  test('the line says what was deducted ahead', () => {
    const inputs = exampleInputs({
      start: START,
      items: [ahead('20'), usage],
      schedules: [{ discount: { product_items: [onBoth] } }],
    })
    const lines = exampleInvoices(inputs, 2, '200')[1]?.content.periods[0]?.groups[0]?.lines
    expect(lines?.find(({ type }) => type === 'DISCOUNT')?.details.description).toBe(
      'Deducted from 200 EUR, beyond the 20 EUR that were deducted ahead',
    )
  })

  test('a clause of other prices by now took nothing', () => {
    const [before] = exampleInvoices(
      exampleInputs({
        start: START,
        items: [ahead('20'), usage],
        schedules: [{ discount: { product_items: [{ ...onBoth, ids: ['item0'] }] } }],
      }),
      1,
    )
    expect(deductions(before, false)).toEqual(['01-01..02-01 -20.00'])
    const taken = [
      {
        invoiceId: 'invoice0',
        clause: 'schedule0 discount.product_items.0',
        service: [Date.UTC(2026, 0, 1), Date.UTC(2026, 1, 1)] as const,
        net: '20',
        gross: '24.2',
        of: { CONFIG: null, ITEM: null, PRICING: null, PRODUCT_ITEM: 'item0', PRODUCT: null, CATEGORY: null },
      },
    ]
    const discountOf = (ids: string[]) =>
      withTaken(
        [
          {
            id: 'schedule0 discount.product_items.0',
            scheduleId: 'schedule0',
            during: null,
            of: { level: 'PRODUCT_ITEM', ids },
            value: { kind: 'AMOUNT', amount: decimal('30') },
            condition: null,
            coupon: null,
          },
        ],
        taken,
        { amountType: 'EXCLUDING_TAX', currency: 'EUR', rounding: 'DEFAULT', givenBack: [], billed: new Set() },
      )[0]?.taken?.map(({ amount }) => amount.toString())
    expect([discountOf(['item0', 'item1']), discountOf(['item1'])]).toEqual([['20'], undefined])
  })
})
