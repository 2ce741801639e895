// Where a schedule and its copy share a billing period, each has its own discounts on prices. An amount on the total is one: it is deducted once for
// the invoice.
import { expect, test } from 'vitest'
import type { Discount } from '../../subscriptions/clauses/discount-schema.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { eur, exampleInputs, exampleInvoices, linesOf, recurring } from '../testing/example-inputs.ts'
import { type PastRules, pastRulesOf } from './past-rules.ts'
import { priceInvoice } from './price-invoice.ts'

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

test('an amount on the total is deducted once for the invoice', () => {
  expect(billed(TOTAL, '2026-03-11T00:00:00Z', false)).toEqual([...PARTS, '2026-03-01..2026-04-01 -10.00'])
})

test('its condition is of what both charge', () => {
  const above = (quantity: string): Discount => ({
    totals: [{ amount: eur('10'), condition: { comparator: 'GREATER_THAN', value: { amount: eur(quantity) } } }],
  })
  const once = '2026-03-01..2026-04-01 -10.00'
  expect(billed(above('300'), '2026-03-11T00:00:00Z', false)).toEqual([...PARTS, once])
  expect(billed(above('310'), '2026-03-11T00:00:00Z', false)).toEqual(PARTS)
})

test('two that are alike in each schedule are two, and other amounts are of each schedule alone', () => {
  const once = '2026-03-01..2026-04-01 -10.00'
  const two: Discount = { totals: [{ amount: eur('10') }, { amount: eur('10') }] }
  expect(billed(two, '2026-03-11T00:00:00Z', false)).toEqual([...PARTS, once, once])
  const copied = '2026-03-11T00:00:00Z'
  const schedules = [
    { end_at: copied, discount: TOTAL },
    { start_at: copied, discount: { totals: [{ amount: eur('20') }] } },
  ]
  const inputs = exampleInputs({ start: MARCH, items: [recurring('310')], schedules })
  const of20 = '2026-03-01..2026-04-01 -20.00'
  expect(exampleInvoices(inputs, 1).map(linesOf)[0]).toEqual([...PARTS, once, of20])
})

test('an invoice on which it counted for each schedule is known by its lines, and priced again by that rule', () => {
  const copied = '2026-03-11T00:00:00Z'
  const schedules = [
    { end_at: copied, discount: TOTAL },
    { start_at: copied, discount: TOTAL },
  ]
  const inputs = exampleInputs({ start: MARCH, items: [recurring('310')], schedules })
  const [, window] = invoiceWindows(inputs)
  if (!window) throw new Error('it has a second invoice')
  const linesBy = (rules: PastRules | null) =>
    priceInvoice(inputs, {
      ...{ terms: resolveTerms(inputs), window, billed: new Set<string>(), usage: new Map(), finalizedAt: null },
      ...(rules ? { rules } : {}),
    }).lines
  const then = { totalsEachSchedule: true } as const
  const taken = (rules: PastRules | null) =>
    linesBy(rules).flatMap(({ kind, amount_excluding_tax }) => (kind === 'DISCOUNT' ? [amount_excluding_tax] : []))
  expect([taken(null), taken(then)]).toEqual([['-10'], ['-10', '-10']])
  expect(pastRulesOf(linesBy(then), inputs.schedules)).toEqual(then)
  expect(pastRulesOf(linesBy(null), inputs.schedules)).toBeNull()
})

test.each([ITEM, TOTAL])('a copy that begins with a period leaves the amount of the one before alone', discount => {
  expect(billed(discount, '2026-04-01T00:00:00Z', false)).toEqual([
    '2026-03-01..2026-04-01 310.00',
    '2026-03-01..2026-04-01 -10.00',
  ])
})
