// Coupons of schedules on invoices: what each deducts, and what the line says.
import { describe, expect, test } from 'vitest'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import { pinnedRequest } from '../pinned/pinned.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { amountOff, coupon, discounts, invoicesOf, lines, MONTH, START } from '../testing/example-coupons.ts'
import { eur, exampleInputs, exampleInvoices, metered, recurring } from '../testing/example-inputs.ts'
import { type PastRules, pastRulesOf } from './past-rules.ts'
import { priceInvoice } from './price-invoice.ts'

test('the line names the coupon and its code', () => {
  const [invoice] = invoicesOf([coupon({ promotion_code_id: 'prco_1', promotion_code: 'SPRING' })], {}, 1)
  expect(lines(invoice)[1]).toMatchObject({
    type: 'DISCOUNT',
    discount_type: 'TOTAL',
    description: 'Welcome: discount of 10 % on the total',
    coupon_data: { coupon_id: 'coup_1', coupon_name: 'Welcome', promotion_code_id: 'prco_1', promotion_code: 'SPRING' },
    details: { description: '10 % of 200 EUR' },
  })
  expect(invoice?.amount_including_tax).toBe('217.8')
})

test('what it is limited to: any of the things it names, an amount once', () => {
  const items = [recurring('200'), recurring('100'), recurring('50')]
  const of = (limited_to: AppliedCoupon['limited_to'], discount = amountOff('15')) =>
    discounts(invoicesOf([coupon({ limited_to, discount })], { items }, 1))
  expect(of({ product_item_ids: ['item1'] })).toEqual([['-15.00']])
  expect(of({ product_item_ids: ['item1'], product_ids: ['product'] })).toEqual([['-15.00']])
  expect(of({ product_ids: ['another'] })).toEqual([[]])
  expect(of({ product_item_ids: ['item2'] }, amountOff('80'))).toEqual([['-50.00']])
})

test('a condition compares the amount that it would be deducted from', () => {
  const condition = (quantity: string) => ({
    type: 'PERCENTAGE' as const,
    percentage: '10',
    condition: { comparator: 'GREATER_THAN_OR_EQUALS' as const, value: { amount: eur(quantity) } },
  })
  expect(discounts(invoicesOf([coupon({ discount: condition('200') })], {}, 1))).toEqual([['-20.00']])
  expect(discounts(invoicesOf([coupon({ discount: condition('200.01') })], {}, 1))).toEqual([[]])
})

test('coupons come after the discounts of the schedule, each on what is left', () => {
  const inputs = exampleInputs({
    start: START,
    items: [recurring('200')],
    schedules: [{ discount: { totals: [{ percentage: '10' }] }, coupons: [coupon(), coupon({ coupon_id: 'coup_2' })] }],
  })
  expect(discounts(exampleInvoices(inputs, 1))).toEqual([['-20.00', '-18.00', '-16.20']])
})

describe('free usage', () => {
  const free = (number: string, given: Partial<AppliedCoupon> = {}) =>
    coupon({
      discount: { type: 'USAGE', usage: { meter_value_id: 'metv_1', number } },
      meter_value_reference: 'tokens',
      ...given,
    })
  const tiers = [{ amount: eur('0.10'), tier_top_bound: { number: '1000' } }, { amount: eur('0.08') }]
  const price = (coupons: readonly AppliedCoupon[], usage: string) => {
    const [invoice] = invoicesOf(
      coupons,
      { items: [metered(tiers, { pricing_type: 'TIERED' }), metered([{ amount: eur('1') }])] },
      1,
      usage,
    )
    return [
      lines(invoice).map(line => [line.description, line.amount_excluding_tax.quantity]),
      invoice?.amount_excluding_tax,
    ]
  }

  test('deducts what it would have cost, from prices in their order until it is used up', () => {
    // 1,200 used: 100 + 16 in tiers, 1,200 flat. The first price gets all of the 500 free units: 700 of it are left, at
    // 70.
    expect(price([free('500')], '1200')).toEqual([
      [
        ['Tokens', '116.00'],
        ['Tokens', '1200.00'],
        ['Welcome: 500 free', '-46.00'],
      ],
      '1270',
    ])
    // 1,500 free: 1,200 of the first price, 300 of the second.
    expect(price([free('1500')], '1200')).toEqual([
      [
        ['Tokens', '116.00'],
        ['Tokens', '1200.00'],
        ['Welcome: 1500 free', '-416.00'],
      ],
      '900',
    ])
  })

  test('of a second coupon continues where the first ended, and money discounts apply to what is left', () => {
    const second = free('100', { coupon_id: 'coup_2', coupon_name: 'More' })
    const ten = coupon({ coupon_id: 'coup_3', coupon_name: 'Ten' })
    expect(price([ten, free('1100'), second], '1200')[1]).toBe('1080')
  })

  test('of another metered value, or without usage, makes no line', () => {
    expect(price([free('500', { meter_value_reference: 'images' })], '1200')[1]).toBe('1316')
    expect(price([free('500')], '0')).toEqual([[], '0'])
  })
})

test('a quarterly invoice of monthly prices has a fixed amount once', () => {
  const example = {
    items: [recurring('100', { billing_period: MONTH })],
    subscription: { billing_period: { type: 'MONTH' as const, value: 3 } },
  }
  expect(discounts(invoicesOf([coupon({ discount: amountOff('15') })], example, 1))).toEqual([['-15.00']])
})

describe('an invoice that was issued when a coupon counted for each period', () => {
  const items = [recurring('20', { billing_in_advance: true }), recurring('30')]
  const once = coupon({ discount: amountOff('7.77'), limited_to: { product_ids: ['product'] } })
  const inputs = exampleInputs({ start: START, items, schedules: [{ coupons: [once] }] })
  const terms = resolveTerms(inputs)
  const [, february] = invoiceWindows(inputs)
  if (!february) throw new Error('it has a second invoice')
  const billed = new Set(
    [...terms].map(({ schedule, item, config, productItem }) =>
      [schedule.id, item.id, config.id, productItem.id, START].join(' '),
    ),
  )
  const invoiceBy = (rules: PastRules | null) =>
    priceInvoice(inputs, {
      ...{ terms, window: february, billed, usage: new Map(), finalizedAt: null },
      ...(rules ? { rules } : {}),
    })
  const off = (rules: PastRules | null) =>
    invoiceBy(rules).lines.flatMap(({ kind, amount_excluding_tax }) =>
      kind === 'DISCOUNT' ? [amount_excluding_tax] : [],
    )
  // January afterwards and February ahead: the amount once now, and once for each month before.
  const then = { couponsEachPeriod: true } as const

  test('is priced again by that rule', () => {
    expect([off(null), off(then)]).toEqual([['-7.77'], ['-7.77', '-7.77']])
    expect(invoiceBy(then).columns.amount_excluding_tax).toBe('34.46')
  })

  test('is known by its lines, and keeps the rule with what it is priced from', () => {
    expect(pastRulesOf(invoiceBy(then).lines, inputs.schedules)).toEqual(then)
    expect(pastRulesOf(invoiceBy(null).lines, inputs.schedules)).toBeNull()
    const percentage = { ...once, discount: { type: 'PERCENTAGE' as const, percentage: '10' } }
    const [schedule] = inputs.schedules
    if (!schedule) throw new Error('there is a schedule')
    expect(pastRulesOf(invoiceBy(then).lines, [{ ...schedule, coupons: [percentage] }])).toBeNull()
    const asked = { window: february, billed, finalizedAt: null }
    expect(pinnedRequest({ ...asked, rules: then }).rules).toEqual(then)
    expect(pinnedRequest(asked)).not.toHaveProperty('rules')
  })
})
