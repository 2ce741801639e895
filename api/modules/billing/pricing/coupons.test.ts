// Coupons of schedules on invoices: which invoices each applies to, what it deducts, and what the line says.
import { describe, expect, test } from 'vitest'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import { chargesOf } from '../charges/charges.ts'
import { pinnedRequest } from '../pinned/pinned.ts'
import { applicableCoupons, couponsOfInvoice } from '../rating/coupon-clauses.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import {
  type Example,
  eur,
  exampleInputs,
  exampleInvoice,
  exampleInvoices,
  metered,
  recurring,
} from '../testing/example-inputs.ts'
import { type PastRules, pastRulesOf } from './past-rules.ts'
import { priceInvoice } from './price-invoice.ts'

const START = '2026-01-01T00:00:00Z'
const MONTH = { type: 'MONTH', value: 1 } as const
const coupon = (given: Partial<AppliedCoupon> = {}): AppliedCoupon => ({
  coupon_id: 'coup_1',
  coupon_name: 'Welcome',
  promotion_code_id: null,
  promotion_code: null,
  discount: { type: 'PERCENTAGE', percentage: '10' },
  meter_value_reference: null,
  duration: { type: 'FOREVER' },
  limited_to: null,
  start_at: null,
  ...given,
})
const amountOff = (quantity: string) => ({ type: 'AMOUNT' as const, amount: eur(quantity) })

function invoicesOf(coupons: readonly AppliedCoupon[], example: Partial<Example> = {}, count = 3, usage = '0') {
  const inputs = exampleInputs({
    start: START,
    items: [recurring('200')],
    ...example,
    schedules: [{ coupons }],
  })
  return exampleInvoices(inputs, count, usage)
}
type Invoice = ReturnType<typeof exampleInvoices>[number]
const lines = (invoice: Invoice | undefined) =>
  (invoice?.content.periods ?? []).flatMap(({ groups }) => groups.flatMap(group => group.lines))
const discounts = (invoices: readonly Invoice[]) =>
  invoices.map(invoice =>
    lines(invoice).flatMap(line => (line.type === 'DISCOUNT' ? [line.amount_excluding_tax.quantity] : [])),
  )

describe('on which invoices a coupon counts', () => {
  const inAdvance = { items: [recurring('200', { billing_in_advance: true })] }
  const both = { items: [recurring('200', { billing_in_advance: true }), recurring('100')] }
  const period = { type: 'PERIOD' as const, period: { type: 'MONTH' as const, value: 2 } }
  const cases: [string, Partial<AppliedCoupon>, Partial<Example>, string[][]][] = [
    ['FOREVER on every one', {}, {}, [['-20.00'], ['-20.00'], ['-20.00']]],
    ['ONE_TIME on the first', { duration: { type: 'ONE_TIME' } }, {}, [['-20.00'], [], []]],
    [
      'ONE_TIME on the first that is charged ahead',
      { duration: { type: 'ONE_TIME' } },
      inAdvance,
      [['-20.00'], [], []],
    ],
    [
      'ONE_TIME on only one invoice when some prices are charged ahead and some are not',
      { duration: { type: 'ONE_TIME' }, discount: amountOff('15') },
      both,
      [['-15.00'], [], []],
    ],
    ['PERIOD on as many as it lasts', { duration: period }, {}, [['-20.00'], ['-20.00'], []]],
    ['PERIOD of what is charged ahead', { duration: period }, inAdvance, [['-20.00'], ['-20.00'], []]],
    [
      'an amount of a PERIOD once an invoice',
      { duration: period, discount: amountOff('15') },
      both,
      [['-15.00'], ['-15.00'], []],
    ],
    ['one redeemed in February from there on', { start_at: '2026-02-10T00:00:00Z' }, {}, [[], ['-20.00'], ['-20.00']]],
    [
      'ONE_TIME redeemed in February on that invoice',
      { start_at: '2026-02-10T00:00:00Z', duration: { type: 'ONE_TIME' } },
      {},
      [[], ['-20.00'], []],
    ],
  ]
  const month = { type: 'PERIOD' as const, period: { type: 'MONTH' as const, value: 1 } }
  const exact = { billing_time: 'EXACT' as const }
  cases.push(
    [
      'PERIOD of a month on one invoice a month, at whatever time of the day both begin',
      { duration: month },
      { ...inAdvance, start: '2026-01-15T07:00:00Z', subscription: exact },
      [['-20.00'], [], []],
    ],
    [
      'one that is redeemed on the day of an invoice, after it, on the next one',
      { duration: month, start_at: '2026-02-15T07:00:00Z' },
      { ...inAdvance, start: '2026-01-15T07:00:00Z', subscription: exact },
      [[], [], ['-20.00']],
    ],
  )
  test.each(cases)('%s', (_name, given, example, expected) => {
    expect(discounts(invoicesOf([coupon(given)], example))).toEqual(expected)
  })

  const later = '2026-02-15T07:00:00Z'
  const ahead = recurring('200', { billing_in_advance: true })
  const given = { start: '2026-01-15T07:00:00Z', subscription: exact }
  const forMonth = coupon({ duration: month })
  const forEver = coupon()
  const once = coupon({ duration: { type: 'ONE_TIME' } })

  test.each([
    ['for a month', forMonth, recurring('200'), [[], ['-20.00'], [], []]],
    ['for a month of what is charged ahead', forMonth, ahead, [[], ['-20.00'], [], []]],
    ['that lasts, of what is charged ahead', forEver, ahead, [[], ['-20.00'], ['-20.00'], ['-20.00']]],
    ['for one invoice', once, recurring('200'), [[], ['-20.00'], [], []]],
    ['for one invoice of what is charged ahead', once, ahead, [[], ['-20.00'], [], []]],
  ])('one %s, of a later schedule that begins on the day of an invoice, after it', (_name, own, item, expected) => {
    const schedules = [{ end_at: later }, { start_at: later, coupons: [own] }]
    expect(discounts(exampleInvoices(exampleInputs({ ...given, items: [item], schedules }), 4))).toEqual(expected)
  })

  const noSeats = {
    item: { model_type: 'PER_SEAT' as const },
    config: {
      pricing_type: 'FLAT' as const,
      billing_in_advance: true,
      billing_period: { type: 'YEAR' as const, value: 1 },
      default_seats_value: { number: '0' },
    },
    bands: [{ amount: eur('10') }],
  }
  const items = [recurring('200'), noSeats]

  test('one for a month counts on what the invoice collects where a year of no seats was charged ahead by an earlier one', () => {
    expect(discounts(invoicesOf([forMonth], { items }))).toEqual([[], ['-20.00'], []])
  })

  test('one for one invoice, of a schedule of no seats that begins after an invoice of that day, counts on the next one', () => {
    const change = '2026-02-01T07:00:00Z'
    const schedules = [{ end_at: change }, { start_at: change, coupons: [once] }]
    expect(discounts(exampleInvoices(exampleInputs({ start: START, items, schedules }), 4))).toEqual([
      [],
      [],
      ['-20.00'],
      [],
    ])
  })

  test('one for one invoice counts once where a plan that comes in a period that runs charges a year ahead', () => {
    const change = '2026-02-10T00:00:00Z'
    const yearly = recurring('200', { billing_in_advance: true, billing_period: { type: 'YEAR', value: 1 } })
    const quarterly = recurring('100', { billing_period: { type: 'MONTH', value: 3 } })
    const schedules = [{ end_at: change }, { start_at: change, coupons: [once] }]
    const inputs = exampleInputs({ start: START, items: [yearly, quarterly], schedules })
    const terms = resolveTerms(inputs)
    const [opening, , march, april] = invoiceWindows(inputs)
    if (!opening || !march || !april) throw new Error('there are four invoices')
    // The change came after the January invoice was closed.
    const billed = new Set(chargesOf(terms, opening, new Set()).map(({ key }) => key))
    const first = exampleInvoice(inputs, march, { usage: '0', billed })
    for (const key of first.advanceCharges) billed.add(key)
    const next = exampleInvoice(inputs, april, { usage: '0', billed })
    expect([first, next].map(invoice => lines(invoice).map(line => line.type))).toEqual([
      ['REVENUE', 'REVENUE', 'DISCOUNT'],
      ['REVENUE'],
    ])
  })

  test.each([
    ['in the collected period', '2026-02-05T00:00:00Z', '-2.86'],
    ['after it', '2026-03-05T00:00:00Z', '-20.00'],
  ])(
    'an invoice that charges no seats ahead is for what it collects, where their schedule begins %s',
    (_name, change, expected) => {
      const forty = coupon({ duration: { type: 'PERIOD', period: { type: 'DAY', value: 33 } } })
      const schedules = [{ end_at: change, coupons: [forty] }, { start_at: change }]
      const [, , ofFebruary] = exampleInvoices(exampleInputs({ start: START, items, schedules }), 4)
      expect(discounts(ofFebruary ? [ofFebruary] : [])).toEqual([[expected]])
    },
  )

  test('one for one invoice, of a schedule added in a period that was charged ahead already, counts on the next invoice', () => {
    const change = '2026-01-15T00:00:00Z'
    const yearly = recurring('200', { billing_in_advance: true, billing_period: { type: 'YEAR', value: 1 } })
    const schedules = [{ end_at: change }, { start_at: change, coupons: [once] }]
    const inputs = exampleInputs({ start: START, items: [yearly], schedules })
    const terms = resolveTerms(inputs)
    const [opening, next] = invoiceWindows(inputs)
    if (!opening || !next) throw new Error('it has invoices')
    const keysOf = (of: 0 | 1) =>
      chargesOf(terms, opening, new Set()).flatMap(({ key, schedule }) =>
        schedule.id === inputs.schedules[of]?.id ? [key] : [],
      )
    expect([keysOf(0).length, keysOf(1).length]).toEqual([1, 1])
    const counting = (billed: readonly string[]) =>
      applicableCoupons(inputs, { terms, window: next, billed: new Set(billed), isInAdvance: true }).length
    // The opening invoice was closed before the second schedule was there, or charged for both.
    expect([counting(keysOf(0)), counting([...keysOf(0), ...keysOf(1)])]).toEqual([1, 0])
  })

  test('one for one invoice, of a trial that nothing ends, is looked for on no later invoice', () => {
    const daily = { billing_period: { type: 'DAY' as const, value: 1 } }
    const schedules = [{ trial: true as const, coupons: [once] }]
    const inputs = exampleInputs({ start: START, items: [ahead, recurring('100')], schedules, subscription: daily })
    const [window] = invoiceWindows(inputs)
    if (!window) throw new Error('there is a first invoice')
    const before = process.cpuUsage()
    const of = { terms: resolveTerms(inputs), window, billed: new Set<string>(), isInAdvance: false }
    expect(applicableCoupons(inputs, of)).toEqual([])
    // To look as far as subscriptions go, to the year 2200, takes seconds for each invoice.
    expect(process.cpuUsage(before).user).toBeLessThan(500_000)
  })

  test.each([
    ['in arrears', recurring('200'), [[], ['-20.00'], []]],
    ['ahead', ahead, [[], ['-20.00'], []]],
  ])('one for one invoice, of a later schedule that begins at a cut, charged %s', (_name, item, expected) => {
    const cut = '2026-02-01T00:00:00Z'
    const schedules = [{ end_at: cut }, { start_at: cut, coupons: [once] }]
    expect(discounts(exampleInvoices(exampleInputs({ start: START, items: [item], schedules }), 3))).toEqual(expected)
  })

  test('one for one invoice that a change of plan takes along is used once', () => {
    const cut = '2026-02-01T00:00:00Z'
    const schedules = [
      { end_at: cut, coupons: [once] },
      { start_at: cut, coupons: [{ ...once, start_at: START }] },
    ]
    const inputs = exampleInputs({ start: START, items: [recurring('200')], schedules })
    expect(discounts(exampleInvoices(inputs, 3))).toEqual([['-20.00'], [], []])
  })

  test.each([
    ['on the first invoice', given, 0, false],
    ['where it would have been on the next one too', given, 1, true],
    ['from midnight', { ...given, start: '2026-01-15T00:00:00Z' }, 1, false],
  ])('the end of one for a month moved, %s', (_name, example, place, moved) => {
    const inputs = exampleInputs({ ...example, items: [ahead], schedules: [{ coupons: [forMonth] }] })
    const [first, second] = invoiceWindows(inputs)
    const window = place === 0 ? first : second
    if (!window) throw new Error('it has two invoices')
    const request = { terms: resolveTerms(inputs), window, billed: new Set<string>() }
    expect(couponsOfInvoice(inputs, request).map(({ endMoved }) => endMoved)).toEqual([moved])
  })

  test('one for a month that another schedule took along ends as before', () => {
    const next = '2026-02-20T07:00:00Z'
    const schedules = [
      { end_at: later },
      { start_at: later, end_at: next, coupons: [forMonth] },
      { start_at: next, coupons: [coupon({ duration: month, start_at: later })] },
    ]
    const invoices = exampleInvoices(exampleInputs({ ...given, items: [recurring('200')], schedules }), 4)
    expect(discounts(invoices)).toEqual([[], ['-3.57', '-16.43'], [], []])
  })
})

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
    expect(pastRulesOf(invoiceBy(then).lines, [{ id: 'schedule0', coupons: [percentage] }])).toBeNull()
    const asked = { window: february, billed, finalizedAt: null }
    expect(pinnedRequest({ ...asked, rules: then }).rules).toEqual(then)
    expect(pinnedRequest(asked)).not.toHaveProperty('rules')
  })
})
