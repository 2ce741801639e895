// A billing period whose first part was invoiced before the schedule that follows was activated: what the invoice of the rest has.
import { describe, expect, test } from 'vitest'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import type { ConfigInput, ScheduleInput } from '../terms/billing-inputs.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { amountOff, coupon, discounts, START } from '../testing/example-coupons.ts'
import {
  type ExampleItem,
  eur,
  exampleInputs,
  exampleInvoice,
  exampleInvoices,
  metered,
  recurring,
} from '../testing/example-inputs.ts'

const CHANGE = '2026-01-11T00:00:00Z'
const NO_SEATS: ExampleItem = {
  item: { model_type: 'PER_SEAT' },
  config: { pricing_type: 'FLAT', billing_in_advance: true, default_seats_value: { number: '0' } },
  bands: [{ amount: eur('10') }],
}
const AHEAD = recurring('310', { billing_in_advance: true })

/** Two schedules. The second was activated after the first part of January had been invoiced. */
const inputsOf = (items: readonly ExampleItem[], later: Partial<ScheduleInput>) =>
  exampleInputs({
    start: START,
    items,
    schedules: [{ end_at: CHANGE }, { start_at: CHANGE, ...later }],
    inputs: { resumed_at: [CHANGE] },
  })

describe('the rest of a billing period', () => {
  test('is not charged ahead by the invoice of its first part, which was issued before', () => {
    const times = [...invoiceWindows(inputsOf([AHEAD], { end_at: '2026-03-01T00:00:00Z' }))].map(each =>
      [each.arrears?.start ?? null, each.cutoffAt, each.advance?.end ?? null].map(
        time => time && new Date(time).toISOString().slice(0, 10),
      ),
    )
    expect(times).toEqual([
      [null, '2026-01-01', '2026-01-11'],
      ['2026-01-01', '2026-01-11', null],
      ['2026-01-11', '2026-02-01', '2026-03-01'],
      ['2026-02-01', '2026-03-01', null],
    ])
  })

  const commitment = { pricings: [{ ids: ['pricing'], amount: eur('310') }] }
  const coupons = [coupon({ duration: { type: 'ONE_TIME' } })]
  test('has the coupon for one invoice of its schedule, also where that charges no seats but a minimum', () => {
    const made = exampleInvoices(inputsOf([NO_SEATS], { commitment, coupons }), 4)
    expect(discounts(made).filter(each => each.length > 0)).toEqual([['-52.00']])
  })
})

describe('a schedule that starts with a billing period and was activated after the invoice of that day', () => {
  const NEXT = '2026-02-01T00:00:00Z'
  const minimum = { commitment: { pricings: [{ ids: ['pricing'], amount: eur('310') }] } }
  const once = coupon({ duration: { type: 'ONE_TIME' } })
  /** The invoices of March, April and May. Those before did not know the second schedule. */
  const invoicesOf = (item: ExampleItem, later: Partial<ScheduleInput>) => {
    const known = exampleInputs({ start: START, items: [item], schedules: [{ end_at: NEXT }] })
    const billed = new Set(exampleInvoices(known, 2).flatMap(({ advanceCharges }) => advanceCharges))
    const inputs = exampleInputs({
      start: START,
      items: [item],
      schedules: [{ end_at: NEXT }, { start_at: NEXT, ...later }],
      inputs: { resumed_at: [NEXT] },
    })
    return [...invoiceWindows(inputs)].slice(2, 5).map(window => {
      const invoice = exampleInvoice(inputs, window, { usage: '0', billed: new Set(billed) })
      for (const key of invoice.advanceCharges) billed.add(key)
      return invoice
    })
  }

  test.each<[title: string, item: ExampleItem, later: Partial<ScheduleInput>, expected: string[][]]>([
    ['no seats but a minimum', NO_SEATS, minimum, [['-62.00'], [], []]],
    [
      'a year of no seats but a minimum',
      { ...NO_SEATS, config: { ...NO_SEATS.config, billing_period: { type: 'YEAR', value: 1 } } },
      minimum,
      [['-28.37'], [], []],
    ],
    ['a fee ahead', AHEAD, {}, [['-62.00'], [], []]],
    ['no seats and no minimum', NO_SEATS, {}, [[], [], []]],
    [
      'no seats for two months, and then some',
      NO_SEATS,
      {
        seats_values: [
          { pricing_item_config_id: 'config0', number: '3', start_at: '2026-04-01T00:00:00Z', end_at: null },
        ],
      },
      [[], ['-3.00'], []],
    ],
  ])(
    'has the coupon for one invoice on the first that charges something for it: %s',
    (_title, item, later, expected) => {
      expect(discounts(invoicesOf(item, { ...later, coupons: [once] }))).toEqual(expected)
    },
  )
})

type Terms = Partial<ScheduleInput>
const PER_UNIT = metered([{ amount: eur('1') }])
const TIERS = metered([{ amount: eur('2'), tier_top_bound: { number: '100' } }, { amount: eur('1') }], {
  pricing_type: 'TIERED',
})
const seats = (config: Partial<ConfigInput>): ExampleItem => ({
  item: { model_type: 'PER_SEAT' },
  config: { pricing_type: 'FLAT', default_seats_value: { number: '31' }, ...config },
  bands: [{ amount: eur('10') }],
})
const ONCE: ExampleItem = {
  item: { model_type: 'ONE_OFF' },
  config: { pricing_type: 'FLAT' },
  bands: [{ amount: eur('50') }],
}
const QUARTER = { billing_period: { type: 'MONTH', value: 3 } } as const
const lasting = (type: 'DAY' | 'MONTH', value: number) => ({ type: 'PERIOD' as const, period: { type, value } })
const off = (given: Partial<AppliedCoupon>): Terms => ({ coupons: [coupon(given)] })
const onPrice = (more: object) => ({ pricing_item_configs: [{ ids: ['config0'], ...more }] })
const included: Terms = { included_volumes: [{ pricing_item_config_id: 'config0', number: '31', start_at: CHANGE }] }
const pause = { type: 'PAUSE' as const, start_at: '2026-01-21T00:00:00Z', end_at: '2026-01-26T00:00:00Z' }

// 10.00 for a day of January: 100.00 for the first part, 210.00 for the rest. Each invoice that charges anything, up to February's.
test.each<[title: string, item: ExampleItem, terms: Terms, expected: string[]]>([
  ['a fee in arrears', recurring('310'), {}, ['100', '210', '310']],
  ['a fee ahead, with that of February', AHEAD, {}, ['100', '520', '310']],
  ['seats in arrears', seats({}), {}, ['100', '210', '310']],
  ['seats ahead', seats({ billing_in_advance: true }), {}, ['100', '520', '310']],
  ['a quarter ahead', recurring('900', { ...QUARTER, billing_in_advance: true }), {}, ['100', '800', '900']],
  ['a quarter in arrears, when it is over', recurring('900', QUARTER), {}, ['100', '800', '900']],
  ['a year by months', recurring('3720', { pricing_period: { type: 'YEAR', value: 1 } }), {}, ['100', '210', '310']],
  ['what is sold once', ONCE, {}, ['50', '50']],
  ['usage', PER_UNIT, {}, ['150', '150', '150']],
  ['usage in tiers, each part from the first', TIERS, {}, ['250', '250', '250']],
  ['usage beyond its part of what is included', PER_UNIT, included, ['150', '129', '119']],
  ['a fee less a discount', recurring('310'), { discount: onPrice({ percentage: '10' }) }, ['100', '189', '279']],
  [
    'a fee less a discount of an amount',
    recurring('310'),
    { discount: onPrice({ amount: eur('31') }) },
    ['100', '179', '279'],
  ],
  [
    'a fee less a coupon for one',
    recurring('310'),
    off({ discount: amountOff('50'), duration: { type: 'ONE_TIME' } }),
    ['100', '160', '310'],
  ],
  [
    'a fee ahead less a coupon for one',
    AHEAD,
    off({ discount: amountOff('50'), duration: { type: 'ONE_TIME' } }),
    ['100', '470', '310'],
  ],
  [
    'a fee less a coupon until February',
    recurring('310'),
    off({ duration: lasting('DAY', 21) }),
    ['100', '189', '310'],
  ],
  ['a fee less a coupon into February', recurring('310'), off({ duration: lasting('DAY', 22) }), ['100', '189', '279']],
  [
    'a fee less an amount for a month',
    recurring('310'),
    off({ discount: amountOff('50'), duration: lasting('MONTH', 1) }),
    ['100', '160', '260'],
  ],
  [
    'the part of a minimum of a price',
    recurring('310'),
    { commitment: onPrice({ amount: eur('620') }) },
    ['100', '420', '620'],
  ],
  ['the part of a minimum ahead', AHEAD, { commitment: onPrice({ amount: eur('620') }) }, ['100', '1040', '620']],
  [
    'the part of a minimum of units',
    PER_UNIT,
    { commitment: onPrice({ meter_value_calculation: { number: '310' } }) },
    ['150', '210', '310'],
  ],
  [
    'the part of a minimum of the invoice',
    recurring('310'),
    { commitment: { totals: [{ amount: eur('620') }] } },
    ['100', '420', '620'],
  ],
])('the rest of a billing period has %s', (_title, item, terms, expected) => {
  const made = exampleInvoices(inputsOf([item], terms), expected.length, '150')
  expect(made.map(each => each.amount_excluding_tax)).toEqual(expected)
})

test('the rest of a billing period leaves out a pause', () => {
  const inputs = inputsOf([recurring('310')], {})
  const paused = { ...inputs, subscription: { ...inputs.subscription, inactive_periods: [pause] } }
  expect(exampleInvoices(paused, 3).map(each => each.amount_excluding_tax)).toEqual(['100', '160', '310'])
})

test('a billing period whose schedules are activated late one after the other is charged in as many parts', () => {
  const last = '2026-01-21T00:00:00Z'
  const schedules = [{ end_at: CHANGE }, { start_at: CHANGE, end_at: last }, { start_at: last }]
  const resumed = { resumed_at: [CHANGE, last] }
  const amounts = (item: ExampleItem) =>
    exampleInvoices(exampleInputs({ start: START, items: [item], schedules, inputs: resumed }), 4).map(
      each => each.amount_excluding_tax,
    )
  expect(amounts(recurring('310'))).toEqual(['100', '100', '110', '310'])
  expect(amounts(AHEAD)).toEqual(['100', '100', '420', '310'])
})
