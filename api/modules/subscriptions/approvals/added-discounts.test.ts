// Which discounts of a changed schedule are more than it has.
import { expect, test } from 'vitest'
import type { Discount } from '../clauses/discount-schema.ts'
import type { AppliedCoupon } from '../coupons/schema.ts'
import { addedDiscounts } from './added-discounts.ts'

const MAY = '2026-05-01T00:00:00Z'
const JUNE = '2026-06-01T00:00:00Z'
const schedule = (discount: Discount | null, applied_coupons: readonly AppliedCoupon[] = []) => ({
  discount,
  applied_coupons,
  start_at: '2026-04-01T00:00:00Z',
})
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const added = (before: Discount | null, after: Discount | null) =>
  addedDiscounts(schedule(before), schedule(after)).map(({ percentage, amount }) => percentage ?? amount?.quantity)
const totals = (...all: NonNullable<Discount['totals']>) => ({ totals: all })
const on = (...ids: string[]) => ({ products: [{ ids, percentage: '20' }] })

test.each<[string, Discount | null, Discount | null]>([
  ['the same', totals({ percentage: '20' }), totals({ percentage: '20.0' })],
  ['none', totals({ percentage: '20' }), null],
  ['one of two', totals({ percentage: '20' }, { percentage: '15' }), totals({ percentage: '15' })],
  [
    'another order',
    totals({ percentage: '20' }, { percentage: '15' }),
    totals({ percentage: '15' }, { percentage: '20' }),
  ],
  ['an end', totals({ percentage: '20' }), totals({ percentage: '20', end_at: MAY })],
  ['an earlier end', totals({ percentage: '20', end_at: JUNE }), totals({ percentage: '20', end_at: MAY })],
  ['a later start', totals({ percentage: '20' }), totals({ percentage: '20', start_at: MAY })],
  ['its start, named', totals({ percentage: '20' }), totals({ percentage: '20', start_at: '2026-04-01T00:00:00Z' })],
  ['fewer products', on('prod_1', 'prod_2'), on('prod_2')],
])('%s is nothing more', (_name, before, after) => {
  expect(added(before, after)).toEqual([])
})

test.each<[string, Discount | null, Discount | null, string[]]>([
  ['the first', null, totals({ percentage: '20' }), ['20']],
  [
    'another of the same size',
    totals({ percentage: '20' }),
    totals({ percentage: '20' }, { percentage: '20' }),
    ['20'],
  ],
  ['a larger one', totals({ percentage: '20' }), totals({ percentage: '30' }), ['30']],
  ['a small one beside it', totals({ percentage: '20' }), totals({ percentage: '20' }, { percentage: '5' }), ['5']],
  ['no end any more', totals({ percentage: '20', end_at: MAY }), totals({ percentage: '20' }), ['20']],
  ['a later end', totals({ percentage: '20', end_at: MAY }), totals({ percentage: '20', end_at: JUNE }), ['20']],
  [
    'an earlier start',
    totals({ percentage: '20', start_at: JUNE }),
    totals({ percentage: '20', start_at: MAY }),
    ['20'],
  ],
  ['more products', on('prod_1'), on('prod_1', 'prod_2'), ['20']],
  ['the whole invoice', on('prod_1'), totals({ percentage: '20' }), ['20']],
  ['another amount', totals({ amount: eur('5') }), totals({ amount: eur('5') }, { amount: eur('5.0') }), ['5.0']],
])('%s is more', (_name, before, after, expected) => {
  expect(added(before, after)).toEqual(expected)
})

test('a coupon is more unless the schedule has it', () => {
  const half: AppliedCoupon = {
    ...{ coupon_id: 'coup_1', coupon_name: 'Half', promotion_code_id: null, promotion_code: null },
    ...{ discount: { type: 'PERCENTAGE', percentage: '50' }, meter_value_reference: null, limited_to: null },
    ...{ duration: { type: 'FOREVER' }, start_at: null },
  }
  const other = { ...half, coupon_id: 'coup_2' }
  const of = (before: AppliedCoupon[], after: AppliedCoupon[]) =>
    addedDiscounts(schedule(totals({ percentage: '50' }), before), schedule(totals({ percentage: '50' }), after))
  expect(of([], [half])).toEqual([half.discount])
  expect(of([half], [half, other])).toEqual([other.discount])
  expect(of([half, other], [other])).toEqual([])
})
