// What the document of several invoices says.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum, ZERO } from '../../../../../shared/decimal.ts'
import type { Discount } from '../../../subscriptions/clauses/discount-schema.ts'
import { priceBeforeDocument, priceInvoice } from '../../pricing/price-invoice.ts'
import { eur, metered, recurring } from '../../testing/example-inputs.ts'
import { anyPrice } from '../../testing/example-prices.ts'
import { joinedKey, joinInvoices, type Part } from './join-invoices.ts'
import { inputsOf, requestOf, type Sold, START } from './testing/combining.ts'

const wallet = (available: string) => ({
  walletId: 'wallet',
  walletTypeId: 'type',
  taxCategory: 'STANDARD' as const,
  currency: 'EUR',
  available: decimal(available),
})
function partOf(sold: Sold): Part {
  const inputs = inputsOf(sold)
  const priced = priceBeforeDocument(inputs, requestOf(inputs, sold))
  return { invoiceId: `invoice ${sold.id}`, subscriptionId: sold.id, priced }
}
const joined = (all: readonly [Sold, ...Sold[]], balances: Parameters<typeof joinInvoices>[1] = []) => {
  const [first, ...others] = all
  return joinInvoices([partOf(first), ...others.map(partOf)], balances)
}
/** Every line by the kind and what it is without tax; then the totals. */
function said({ columns, lines }: ReturnType<typeof joined>): string[] {
  const { amount_excluding_tax, tax_amount, amount_including_tax } = columns
  const each = lines.map(line => `${line.kind} ${plain(decimal(line.amount_excluding_tax))}`)
  return [...each, [amount_excluding_tax, tax_amount, amount_including_tax].join(' ')]
}

describe('a document of several', () => {
  test.each<[string, readonly [Sold, ...Sold[]], string[]]>([
    [
      'adds up the lines, and taxes their sum',
      [{ id: 'a' }, { id: 'b', items: [recurring('50')] }],
      ['REVENUE 100', 'REVENUE 50', '150 31.5 181.5'],
    ],
    [
      'rounds each line, and the tax once: three of 0.333 with 21 % of 0.99',
      [
        { id: 'a', items: [recurring('0.333')] },
        { id: 'b', items: [recurring('0.333')] },
        { id: 'c', items: [recurring('0.333')] },
      ],
      ['REVENUE 0.33', 'REVENUE 0.33', 'REVENUE 0.33', '0.99 0.21 1.2'],
    ],
    [
      'keeps the discounts of each to its own lines',
      [
        { id: 'a', discount: { totals: [{ percentage: '10' }] } },
        { id: 'b', items: [recurring('50')], discount: { totals: [{ amount: eur('15') }] } },
        { id: 'c', items: [recurring('7')] },
      ],
      ['REVENUE 100', 'REVENUE 50', 'REVENUE 7', 'DISCOUNT -10', 'DISCOUNT -15', '132 27.72 159.72'],
    ],
    [
      'has a line of the wallet for each that it pays',
      [
        { id: 'a', more: { wallets: [wallet('120')] } },
        { id: 'b', items: [recurring('50')], more: { wallets: [wallet('20')] } },
      ],
      ['REVENUE 100', 'REVENUE 50', 'WALLET -100', 'WALLET -20', '30 6.3 36.3'],
    ],
    [
      'with prices that include tax, keeps what each line says',
      [
        { id: 'a', amountType: 'INCLUDING_TAX', items: [recurring('121')] },
        { id: 'b', amountType: 'INCLUDING_TAX', items: [recurring('60.5')] },
      ],
      ['REVENUE 100', 'REVENUE 50', '150 31.5 181.5'],
    ],
    [
      'leaves out one that charges nothing',
      [{ id: 'a' }, { id: 'b', items: [metered([{ amount: eur('1') }])] }],
      ['REVENUE 100', '100 21 121'],
    ],
  ])('%s', (_title, all, expected) => {
    expect(said(joined(all))).toEqual(expected)
  })

  test('names its subscriptions and their invoices, and bills the whole time of them', () => {
    const { columns } = joined([{ id: 'a', start: '2026-03-11T00:00:00Z' }, { id: 'b' }])
    expect(columns.content).toMatchObject({
      pricing_plan_subscription_ids: ['a', 'b'],
      combined_invoice_ids: ['invoice a', 'invoice b'],
      billing_period: { type: 'MONTH', value: 1 },
    })
    expect([columns.period_start, columns.period_end, columns.cutoff_at]).toEqual([
      START,
      '2026-04-01T00:00:00Z',
      '2026-04-01T00:00:00Z',
    ])
    const quarter = { billing_period: { type: 'MONTH' as const, value: 3 } }
    const mixed = joined([{ id: 'a' }, { id: 'b', start: '2026-01-01T00:00:00Z', subscription: quarter }])
    expect(mixed.columns.content.billing_period).toBeUndefined()
    expect(mixed.columns.period_start).toBe('2026-01-01T00:00:00Z')
  })

  test('is paid after tax once, by what the wallet has', () => {
    const balances = [{ walletId: 'prepaid', walletTypeId: 'balance', currency: 'EUR', available: decimal('150') }]
    const { columns } = joined([{ id: 'a' }, { id: 'b', items: [recurring('50')] }], balances)
    expect(columns.content.wallet_balances).toEqual([
      {
        wallet_id: 'prepaid',
        used_balance: { amount: eur('150') },
        left_balance: { amount: eur('0') },
        available_balance: { amount: eur('150') },
      },
    ])
  })

  test('gives every line a key of its own, and charges keep theirs', () => {
    const discount: Discount = { totals: [{ percentage: '10' }] }
    const parts = [partOf({ id: 'a', discount }), partOf({ id: 'b', discount })] as const
    const keys = parts.flatMap(part => part.priced.draft.lines.map(({ key }) => joinedKey(part, key)))
    expect(new Set(keys).size).toBe(4)
    const charges = parts.flatMap(({ priced }) => priced.rated.map(({ charge }) => charge.key))
    expect(keys.filter(key => charges.includes(key))).toHaveLength(2)
  })

  test('whatever the prices: it has the lines of each, they add up, and tax differs by rounding alone', () => {
    const anySold = fc.record({
      items: fc.array(anyPrice, { minLength: 1, maxLength: 3 }),
      usage: fc.integer({ min: 0, max: 500 }),
    })
    const amountOf = (text: string): Decimal => decimal(text)
    fc.assert(
      fc.property(fc.array(anySold, { minLength: 1, maxLength: 4 }), sold => {
        const all = sold.map(({ items, usage }, index): Sold => ({ id: `s${index}`, items, usage: String(usage) }))
        const [first, ...others] = all
        if (!first) return
        const { columns, lines } = joined([first, ...others])
        const alone = all.map(each => {
          const inputs = inputsOf(each)
          return priceInvoice(inputs, requestOf(inputs, each))
        })
        const own = alone.flatMap(each => each.lines)
        expect(lines.map(line => line.line_id).sort()).toEqual(own.map(line => line.line_id).sort())
        expect(
          amountOf(columns.amount_excluding_tax).eq(
            sum([...own.map(line => decimal(line.amount_excluding_tax)), ZERO]),
          ),
        ).toBe(true)
        expect(amountOf(columns.amount_excluding_tax).plus(columns.tax_amount).eq(columns.amount_including_tax)).toBe(
          true,
        )
        const taxes = sum([...alone.map(each => decimal(each.columns.tax_amount)), ZERO])
        expect(
          taxes
            .minus(columns.tax_amount)
            .abs()
            .lte(decimal('0.005').times(String(all.length + 1))),
        ).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})
