// What earlier invoices charged ahead: less the coupons that were limited to it, it counts towards a minimum; and what one
// of them charged is not charged again by the next, which a coupon for one invoice asks.
import { describe, expect, test } from 'vitest'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import {
  type Example,
  eur,
  exampleInputs,
  exampleInvoice,
  exampleInvoices,
  metered,
  recurring,
} from '../testing/example-inputs.ts'

const coupon = (given: Partial<AppliedCoupon>): AppliedCoupon => ({
  coupon_id: 'coup_1',
  coupon_name: 'Welcome',
  promotion_code_id: null,
  promotion_code: null,
  discount: { type: 'AMOUNT', amount: eur('20') },
  meter_value_reference: null,
  duration: { type: 'FOREVER' },
  limited_to: null,
  start_at: null,
  ...given,
})

/** The lines of the first invoices that charge something. */
const linesOf = (example: Example, usage = '0', count = 2): string[][] =>
  exampleInvoices(exampleInputs(example), count, usage).map(({ content }) =>
    content.periods.flatMap(({ groups }) =>
      groups.flatMap(group => group.lines.map(line => `${line.type} ${line.amount_excluding_tax.quantity}`)),
    ),
  )

describe('what was paid ahead, less the coupons limited to it, counts towards a minimum', () => {
  const commitment = { pricings: [{ ids: ['pricing'], amount: eur('100') }] }
  const PER_UNIT = metered([{ amount: eur('1') }])
  const fee = recurring('50', { billing_in_advance: true })
  const ofFee = { product_item_ids: ['item1'] }
  const billed = (given: Partial<AppliedCoupon>, usage = '10') =>
    linesOf(
      { start: '2026-01-01T00:00:00Z', items: [PER_UNIT, fee], schedules: [{ commitment, coupons: [coupon(given)] }] },
      usage,
    )[1]?.filter(line => line.startsWith('COMMITMENT'))

  test.each<[string, Partial<AppliedCoupon>, string[]]>([
    ['none', { limited_to: { product_item_ids: ['other'] } }, ['COMMITMENT 40.00']],
    ['an amount', { limited_to: ofFee }, ['COMMITMENT 60.00']],
    ['a percentage', { limited_to: ofFee, discount: { type: 'PERCENTAGE', percentage: '40' } }, ['COMMITMENT 60.00']],
    ['an amount on the first invoice', { limited_to: ofFee, duration: { type: 'ONE_TIME' } }, ['COMMITMENT 60.00']],
    ['one that begins later', { limited_to: ofFee, start_at: '2026-01-02T00:00:00Z' }, ['COMMITMENT 40.00']],
  ])('%s', (_name, given, expected) => {
    expect(billed(given)).toEqual(expected)
  })

  test('a minimum that was added ahead is given back as seats come', () => {
    const start = '2026-02-01T00:00:00Z'
    const seats = {
      item: { model_type: 'PER_SEAT' as const },
      config: { pricing_type: 'FLAT', billing_in_advance: true },
    }
    const seat = (from: string) => ({ product_item_id: 'item0', start_at: from, end_at: null })
    const example: Example = {
      start,
      items: [{ ...seats, bands: [{ amount: eur('10') }] }],
      schedules: [
        {
          commitment: { pricing_item_configs: [{ ids: ['config0'], amount: eur('10') }] },
          coupons: [
            coupon({
              discount: { type: 'AMOUNT', amount: eur('8') },
              duration: { type: 'ONE_TIME' },
              limited_to: { product_item_ids: ['item0'] },
            }),
          ],
        },
      ],
      inputs: { seats: [seat(start), seat('2026-02-15T00:00:00Z')] },
    }
    expect(linesOf(example)).toEqual([
      ['REVENUE 10.00', 'DISCOUNT -8.00', 'COMMITMENT 8.00'],
      // 2.00 were charged and 5.00 come: 3.00 are missing of the 10.00, and 8.00 were added.
      ['COMMITMENT -5.00', 'REVENUE 5.00', 'REVENUE 20.00'],
    ])
  })
})

function windowAt(inputs: BillingInputs, place: number): InvoiceWindow {
  let left = place
  for (const window of invoiceWindows(inputs)) {
    if (left === 0) return window
    left -= 1
  }
  throw new Error(`there is no invoice ${place}`)
}

test('a minimum ahead that was reached again, for days of a pause that came back, is given back once as seats come', () => {
  const price = { pricing_type: 'FLAT', billing_in_advance: true, billing_period: { type: 'MONTH', value: 1 } } as const
  const seat = (from: string) => ({ product_item_id: 'item0', start_at: from, end_at: null })
  const [start, later] = ['2026-07-01T00:00:00Z', '2026-07-13T00:00:00Z']
  const inputsOf = (isPaused: boolean, seats: readonly string[]) =>
    exampleInputs({
      start,
      items: [{ item: { model_type: 'PER_SEAT' }, config: price, bands: [{ amount: eur('31') }] }],
      schedules: [{ commitment: { pricing_item_configs: [{ ids: ['config0'], amount: eur('93') }] } }],
      subscription: {
        billing_period: { type: 'DAY', value: 10 },
        billing_time: 'EXACT',
        inactive_periods: isPaused
          ? [{ type: 'PAUSE', start_at: '2026-07-11T00:00:00Z', end_at: '2026-07-20T00:00:00Z' }]
          : [],
      },
      inputs: { seats: seats.map(seat) },
    })
  const billed = new Set<string>()
  const amounts = [inputsOf(true, [start]), inputsOf(false, [start]), inputsOf(false, [start, later])].map(
    (inputs, place) => {
      const window = windowAt(inputs, place)
      const { advanceCharges, content } = exampleInvoice(inputs, window, { usage: '0', billed })
      for (const key of advanceCharges) billed.add(key)
      return content.periods.flatMap(({ groups }) =>
        groups.flatMap(({ lines }) => lines.map(line => `${line.type} ${line.amount_excluding_tax.quantity}`)),
      )
    },
  )
  // 22 of 31 days, the 9 that came back, and a second seat for 19 days: 93.00 in all.
  expect(amounts).toEqual([
    ['REVENUE 22.00', 'COMMITMENT 44.00'],
    ['COMMITMENT 18.00', 'REVENUE 9.00'],
    ['COMMITMENT -19.00', 'REVENUE 7.00', 'REVENUE 12.00'],
  ])
})

test('what a coupon took of a charge ahead counts as it was, where it was divided over usage too', () => {
  const commitment = { pricing_item_configs: [{ ids: ['config0'], amount: eur('10') }] }
  const seats = {
    item: { model_type: 'PER_SEAT' as const },
    config: { pricing_type: 'FLAT', billing_in_advance: true },
  }
  const seat = (from: string) => ({ product_item_id: 'item0', start_at: from, end_at: null })
  const ofBoth = coupon({
    discount: { type: 'AMOUNT', amount: eur('8') },
    limited_to: { product_item_ids: ['item0', 'item1'] },
  })
  const example: Example = {
    start: '2026-01-01T00:00:00Z',
    items: [{ ...seats, bands: [{ amount: eur('10') }] }, metered([{ amount: eur('1') }])],
    schedules: [{ commitment, coupons: [ofBoth] }],
    inputs: { seats: [seat('2026-01-01T00:00:00Z'), seat('2026-02-15T00:00:00Z')] },
  }
  const [january, february, march] = linesOf(example, '10', 3)
  expect(january?.filter(line => line.startsWith('COMMITMENT'))).toEqual(['COMMITMENT 8.00'])
  // Half of the coupon was for the usage of January: 6.00 were left of the seat.
  expect(february?.filter(line => line.startsWith('COMMITMENT'))).toEqual(['COMMITMENT 4.00'])
  // 5.00 come for February, less 1.14 of the coupon: 0.14 are missing of the 10.00, and 4.00 were added.
  expect(march?.filter(line => line.startsWith('COMMITMENT'))).toEqual(['COMMITMENT -3.86'])
})

test('a coupon for one invoice is not used up by one that charges nothing', () => {
  const quarterly = recurring('200', { billing_in_advance: true, billing_period: { type: 'MONTH', value: 3 } })
  const oneTime = coupon({ duration: { type: 'ONE_TIME' }, start_at: '2026-01-10T00:00:00Z' })
  const example = { start: '2026-01-01T00:00:00Z', items: [quarterly], schedules: [{ coupons: [oneTime] }] }
  // The invoices of 1 February and 1 March charge nothing.
  expect(linesOf(example)).toEqual([['REVENUE 200.00'], ['REVENUE 200.00', 'DISCOUNT -20.00']])
})
