// A coupon that went along to the next schedule is one redemption: what counts once for each invoice does so over both schedules.
import { describe, expect, test } from 'vitest'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { amountOff, coupon, discounts, START } from '../testing/example-coupons.ts'
import { eur, exampleInputs, exampleInvoices, metered, recurring } from '../testing/example-inputs.ts'
import { type PastRules, pastRulesOf } from './past-rules.ts'
import { priceInvoice } from './price-invoice.ts'

const ITEMS = [recurring('20', { billing_in_advance: true }), recurring('30')]

/** One schedule until `changes`, and its copy with the same coupons from then on. */
function continued(coupons: readonly AppliedCoupon[], changes: string, items: typeof ITEMS = ITEMS): BillingInputs {
  const inputs = exampleInputs({ start: START, items, schedules: [{ coupons }] })
  const [first] = inputs.schedules
  if (!first) throw new Error('there is a schedule')
  const carried = coupons.map(each => ({ ...each, start_at: START }))
  return {
    ...inputs,
    schedules: [
      { ...first, end_at: changes },
      { ...first, id: 'schedule1', start_at: changes, coupons: carried },
    ],
  }
}

const FEBRUARY = '2026-02-01T00:00:00Z'
const off = (inputs: BillingInputs, usage?: string) => discounts(exampleInvoices(inputs, 3, usage))

describe('of a schedule and its copy on one invoice', () => {
  // The second invoice has January afterwards, of the first schedule, and February ahead, of the second.
  test('an amount is deducted once', () => {
    const once = coupon({ discount: amountOff('7.77') })
    expect(off(continued([once], FEBRUARY))).toEqual([['-7.77'], ['-7.77'], ['-7.77']])
    const onFees = { ...once, limited_to: { product_ids: ['product'] } }
    expect(off(continued([onFees], FEBRUARY))).toEqual([['-7.77'], ['-7.77'], ['-7.77']])
  })

  test('it may take all that both charge, and no more', () => {
    expect(off(continued([coupon({ discount: amountOff('45') })], FEBRUARY))).toEqual([
      ['-20.00'],
      ['-45.00'],
      ['-45.00'],
    ])
    expect(off(continued([coupon({ discount: amountOff('90') })], FEBRUARY))).toEqual([
      ['-20.00'],
      ['-50.00'],
      ['-50.00'],
    ])
  })

  test('a condition is of what both charge', () => {
    const discount = {
      type: 'PERCENTAGE' as const,
      percentage: '10',
      condition: { comparator: 'GREATER_THAN_OR_EQUALS' as const, value: { amount: eur('50') } },
    }
    expect(off(continued([coupon({ discount })], FEBRUARY))).toEqual([[], ['-5.00'], ['-5.00']])
  })

  test('free usage is free once, where the copy starts within a period', () => {
    const free = coupon({
      discount: { type: 'USAGE', usage: { meter_value_id: 'metv_1', number: '15' } },
      meter_value_reference: 'tokens',
    })
    // Ten units before the change, and ten after it.
    expect(off(continued([free], '2026-01-11T00:00:00Z', [metered([{ amount: eur('1') }])]), '10')[0]).toEqual([
      '-10.00',
      '-5.00',
    ])
  })

  test('two redemptions of one coupon are two', () => {
    const inputs = continued([coupon({ discount: amountOff('7.77') })], FEBRUARY)
    const [first, second] = inputs.schedules
    if (!first || !second) throw new Error('there are two schedules')
    const again = { ...second, coupons: (second.coupons ?? []).map(each => ({ ...each, start_at: FEBRUARY })) }
    expect(off({ ...inputs, schedules: [first, again] })[1]).toEqual(['-7.77', '-7.77'])
  })
})

test('an invoice on which it counted for each schedule is known by its lines, and priced again by that rule', () => {
  const inputs = continued([coupon({ discount: amountOff('7.77') })], FEBRUARY)
  const terms = resolveTerms(inputs)
  const [, february] = invoiceWindows(inputs)
  if (!february) throw new Error('it has a second invoice')
  const linesBy = (rules: PastRules | null) =>
    priceInvoice(inputs, {
      ...{ terms, window: february, billed: new Set<string>(), usage: new Map(), finalizedAt: null },
      ...(rules ? { rules } : {}),
    }).lines
  const then = { couponsEachSchedule: true } as const
  const taken = (rules: PastRules | null) =>
    linesBy(rules).flatMap(({ kind, amount_excluding_tax }) => (kind === 'DISCOUNT' ? [amount_excluding_tax] : []))
  expect([taken(null), taken(then)]).toEqual([['-7.77'], ['-7.77', '-7.77']])
  expect(pastRulesOf(linesBy(then), inputs.schedules)).toEqual(then)
  expect(pastRulesOf(linesBy(null), inputs.schedules)).toBeNull()
})
