// Where a schedule and its copy share a billing period, each has its own discounts: an amount is deducted for each of the two.
import { expect, test } from 'vitest'
import type { Discount } from '../../subscriptions/clauses/discount-schema.ts'
import { eur, exampleInputs, exampleInvoices, linesOf, recurring } from '../testing/example-inputs.ts'

const MARCH = '2026-03-01T00:00:00Z'
const ITEM: Discount = { product_items: [{ ids: ['item0'], amount: eur('10') }] }
const TOTAL: Discount = { totals: [{ amount: eur('10') }] }

/** A fee of 310 a month in March, and its copy from this day on. */
const billed = (discount: Discount, copied: string, billing_in_advance: boolean): string[] | undefined => {
  const schedules = [
    { end_at: copied, discount },
    { start_at: copied, discount, carries_usage: true as const },
  ]
  const items = [recurring('310', { billing_in_advance })]
  return exampleInvoices(exampleInputs({ start: MARCH, items, schedules }), 1).map(linesOf)[0]
}
const PARTS = ['2026-03-01..2026-03-11 100.00', '2026-03-11..2026-04-01 210.00']

test.each([
  ['in arrears', false],
  ['ahead', true],
])('an amount on the item is deducted in the part of each, %s', (_when, ahead) => {
  expect(billed(ITEM, '2026-03-11T00:00:00Z', ahead)).toEqual([
    PARTS[0],
    '2026-03-01..2026-03-11 -10.00',
    PARTS[1],
    '2026-03-11..2026-04-01 -10.00',
  ])
})

test('an amount on the total is deducted once for each of the two', () => {
  const once = '2026-03-01..2026-04-01 -10.00'
  expect(billed(TOTAL, '2026-03-11T00:00:00Z', false)).toEqual([...PARTS, once, once])
})

test.each([ITEM, TOTAL])('a copy that begins with a period leaves the amount of the one before alone', discount => {
  expect(billed(discount, '2026-04-01T00:00:00Z', false)).toEqual([
    '2026-03-01..2026-04-01 310.00',
    '2026-03-01..2026-04-01 -10.00',
  ])
})
