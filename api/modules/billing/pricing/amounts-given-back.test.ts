// What the refund of a fee ahead gives back of an amount that is not on the fee alone.
import { expect, test } from 'vitest'
import type { ScheduleInput } from '../terms/billing-inputs.ts'
import { eur, metered, recurring } from '../testing/example-inputs.ts'
import { refundedMonth } from '../testing/refunded-month.ts'

const ONCE = { ...recurring('40'), item: { model_type: 'ONE_OFF' as const } }
const ITEMS = [metered([{ amount: eur('1') }]), recurring('100', { billing_in_advance: true }), ONCE]

/** The amounts of the last invoice, of a subscription that is cancelled in the middle of February. */
const lastLines = (discount: ScheduleInput['discount']): string[] =>
  refundedMonth({ items: ITEMS, schedules: [{ discount }] }, '15').lines.map(line => line.amount_excluding_tax)

const FEE = { ids: ['config1'], percentage: '10' }
const everything = (amount: string) => ({ ids: ['pricing'], amount: eur(amount) })

test('the refund of a fee gives back its part of an amount, and nothing of other discounts on the fee', () => {
  // 10.00 of the fee by its own discount. The 65.00 are 45.00 of its 90.00 and 20.00 of the 40.00: half of the 45.00 goes back.
  const lines = lastLines({ pricing_item_configs: [FEE], pricings: [everything('65')] })
  expect(lines.toSorted()).toEqual(['-22.5', '-22.5', '200'].toSorted())
})

test('of two amounts on a fee, its refund gives back the part of each', () => {
  // 20.00 of the fee, and then 60.00: 40.00 of its 80.00 and 20.00 of the 40.00. It was 40.00.
  const lines = lastLines({ product_items: [{ ids: ['item0', 'item1'], amount: eur('20') }], products: [PRODUCT] })
  expect(lines.toSorted()).toEqual(['-10', '-20', '-20', '200'].toSorted())
})
const PRODUCT = { ids: ['product'], amount: eur('60') }

test.each([
  ['in full', '100', ['-20', '0', '200']],
  // 90.00 of the fee were left after the percentage, so its share of the amount was 100 × 90 ÷ 170. Half of that share goes back.
  ['in part', '10', ['-26.47', '-18.53', '200']],
])(
  'where a percentage took a fee %s, its refund gives back to an amount only what the amount took',
  (_title, percentage, expected) => {
    const discount = { pricing_item_configs: [{ ...FEE, percentage }], pricings: [everything('100')] }
    const { lines } = refundedMonth({ items: [...ITEMS, ONCE], schedules: [{ discount }] }, '15')
    expect(lines.map(line => line.amount_excluding_tax).toSorted()).toEqual(expected.toSorted())
  },
)
