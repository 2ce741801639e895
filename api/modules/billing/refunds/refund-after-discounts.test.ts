// Refunds of discounted charges: what the invoice charged for them in the end, and never more.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import type { Discount } from '../../subscriptions/clauses/discount-schema.ts'
import { type PricedInvoice, priceInvoice } from '../pricing/price-invoice.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { linesIn } from '../testing/example-closing.ts'
import { type Example, eur, exampleInputs, recurring } from '../testing/example-inputs.ts'
import { advanceChargesOf } from './advance-charges.ts'

const START = '2026-04-01T00:00:00Z'

/** The invoice that charges April ahead, and the one that refunds all of it. */
function chargedAndRefunded(inputs: BillingInputs) {
  const terms = resolveTerms(inputs)
  const [window] = invoiceWindows(inputs)
  if (!window) throw new Error('there is one')
  const request = { terms, window, usage: new Map(), finalizedAt: null }
  const charged = priceInvoice(inputs, { ...request, billed: new Set() })
  const refunds = advanceChargesOf(charged).map(each => ({ charged: each, from: each.service.start }))
  return { charged, refunded: priceInvoice(inputs, { ...request, billed: new Set(charged.advanceCharges), refunds }) }
}

const totals = ({ columns }: PricedInvoice, sign: '1' | '-1' = '1'): string[] =>
  [columns.amount_excluding_tax, columns.tax_amount, columns.amount_including_tax].map(text =>
    plain(decimal(text).times(sign)),
  )
const amountsOf = (invoice: PricedInvoice): string[] => linesIn(invoice).map(line => line.amount_excluding_tax.quantity)

const discounted = (discount: Discount, example: Partial<Example> = {}): BillingInputs =>
  exampleInputs({
    start: START,
    items: [recurring('100', { billing_in_advance: true }), recurring('300', { billing_in_advance: true })],
    ...example,
    schedules: [{ discount }],
  })

describe('a refund of all days', () => {
  test('of a minimum that was reached ahead', () => {
    const commitment = { pricings: [{ ids: ['pricing'], amount: eur('500') }] }
    const discount = { totals: [{ percentage: '10' }] }
    const items = [recurring('100', { billing_in_advance: true }), recurring('300', { billing_in_advance: true })]
    const { charged, refunded } = chargedAndRefunded(
      exampleInputs({ start: START, items, schedules: [{ commitment, discount }] }),
    )
    expect(charged.columns.amount_excluding_tax).toBe('450')
    expect(amountsOf(refunded)).toEqual(['-90.00', '-270.00', '-90.00'])
    expect(totals(refunded)).toEqual(totals(charged, '-1'))
  })

  test.each<[string, Discount, string[]]>([
    ['no discount', {}, ['-100.00', '-300.00']],
    ['on a price', { pricing_item_configs: [{ ids: ['config0'], percentage: '10' }] }, ['-90.00', '-300.00']],
    ['on the pricing of both', { pricings: [{ ids: ['pricing'], amount: eur('40') }] }, ['-90.00', '-270.00']],
    ['on the product of both', { products: [{ ids: ['product'], percentage: '25' }] }, ['-75.00', '-225.00']],
    ['on the total', { totals: [{ amount: eur('100') }] }, ['-75.00', '-225.00']],
    [
      'one after the other',
      { product_items: [{ ids: ['item1'], percentage: '50' }], totals: [{ percentage: '10' }] },
      ['-90.00', '-135.00'],
    ],
    ['more than all of it', { totals: [{ amount: eur('1000') }] }, ['0.00', '0.00']],
  ])('%s', (_title, discount, expected) => {
    expect(amountsOf(chargedAndRefunded(discounted(discount)).refunded)).toEqual(expected)
  })

  test('keeps the tax category that the line was charged in, whatever the item has now', () => {
    const inputs = discounted({})
    const { charged } = chargedAndRefunded(inputs)
    const now = {
      ...inputs,
      product_items: inputs.product_items.map(item => ({ ...item, tax_category: 'EXEMPT' as const })),
    }
    const [window] = invoiceWindows(now)
    if (!window) throw new Error('there is one')
    const refunds = advanceChargesOf(charged).map(each => ({ charged: each, from: each.service.start }))
    const billed = new Set(charged.advanceCharges)
    const request = { terms: resolveTerms(now), window, usage: new Map(), finalizedAt: null }
    expect(totals(priceInvoice(now, { ...request, billed, refunds }))).toEqual(['-400', '-84', '-484'])
  })

  const figure = (max: number) => fc.integer({ min: 0, max: max * 1_000 }).map(value => plain(decimal(`${value}e-3`)))
  const money = (max: number) => fc.integer({ min: 0, max: max * 100 }).map(value => plain(decimal(`${value}e-2`)))
  const value = fc.oneof(
    figure(120).map(percentage => ({ percentage })),
    money(200).map(quantity => ({ amount: eur(quantity) })),
  )
  const during = fc.constantFrom({}, { start_at: '2026-04-05T00:00:00Z' }, { end_at: '2026-04-20T00:00:00Z' })
  const on = (...ids: string[]) =>
    fc.array(
      fc
        .tuple(fc.subarray(ids, { minLength: 1 }), value, during)
        .map(([some, change, time]) => ({ ids: some, ...change, ...time })),
      { maxLength: 2 },
    )
  const discount: fc.Arbitrary<Discount> = fc.record({
    pricing_item_configs: on('config0', 'config1', 'config2'),
    pricings: on('pricing'),
    product_items: on('item0', 'item1', 'item2'),
    products: on('product'),
    totals: fc.array(
      fc.tuple(value, during).map(([change, time]) => ({ ...change, ...time })),
      { maxLength: 2 },
    ),
  })
  const prices = fc.tuple(money(500), money(500), figure(500))
  const setting = fc.record({
    amountType: fc.constantFrom('EXCLUDING_TAX' as const, 'INCLUDING_TAX' as const),
    mode: fc.constantFrom('DEFAULT' as const, 'UNROUNDED' as const),
  })
  const abs = (values: readonly Decimal[]): Decimal => sum(values.map(each => each.abs()))

  test('is what was charged, to the cent, with its tax, over any discounts', () => {
    fc.assert(
      fc.property(discount, prices, setting, (given, quantities, { amountType, mode }) => {
        const base = discounted(given, {
          amountType,
          items: quantities.map((quantity, index) => ({
            ...recurring(quantity, { billing_in_advance: true }),
            ...(index === 2 ? { item: { model_type: 'RECURRING', tax_category: 'EXEMPT' } as const } : {}),
          })),
        })
        const rounding_settings = [{ rounding_target: 'INVOICE' as const, rounding_mode: mode }]
        const inputs = { ...base, platform: { ...base.platform, rounding_settings } }
        const { charged, refunded } = chargedAndRefunded(inputs)
        expect(totals(refunded, '-1')).toEqual(totals(charged))
        for (const { amount_excluding_tax } of refunded.lines)
          expect(decimal(amount_excluding_tax).lte(ZERO)).toBe(true)
        // A division is kept to 40 places.
        const back = abs(refunded.lines.map(line => decimal(line.amount_excluding_tax)))
        const paid = sum(charged.lines.map(line => decimal(line.amount_excluding_tax)))
        expect(back.minus(paid).abs().lt('1e-30')).toBe(true)
      }),
      { numRuns: 150 },
    )
  })
})
