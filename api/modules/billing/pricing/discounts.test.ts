// Discounts of schedules on invoices: which lines they make, from what, and the resulting totals.
import { describe, expect, test } from 'vitest'
import type { Discount } from '../../subscriptions/clauses/discount-schema.ts'
import { inputsHashOf } from '../terms/billing-inputs.ts'
import { type Example, eur, exampleInputs, exampleInvoices, metered, recurring } from '../testing/example-inputs.ts'

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
