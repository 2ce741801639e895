// A price that is spread over several invoices: the printed amounts sum to what one invoice for the whole period
// prints.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { amount, toMoney } from '../../../../shared/money.ts'
import {
  type Example,
  eur,
  exampleInputs,
  exampleInvoices,
  metered,
  plainUsage,
  recurring,
} from '../testing/example-inputs.ts'

const start = '2026-01-01T00:00:00Z'
const QUARTER = { type: 'MONTH', value: 3 } as const
const YEAR = { type: 'YEAR', value: 1 } as const
const printed = (example: Example, count: number): string[] =>
  exampleInvoices(exampleInputs(example), count).map(({ amount_excluding_tax }) => amount_excluding_tax)
const total = (amounts: readonly string[]): string => plain(sum(amounts.map(decimal)))

describe('a recurring price that is spread over invoices', () => {
  test.each([
    ['in arrears', false],
    ['in advance', true],
  ])('0.999 a quarter on three monthly invoices is 1.00 together, %s', (_, billing_in_advance) => {
    const items = [recurring('0.999', { pricing_period: QUARTER, billing_in_advance })]
    expect(printed({ start, items }, 3)).toEqual(['0.33', '0.34', '0.33'])
  })

  test('every pricing period is rounded on its own, and a deduction like the charge it mirrors', () => {
    const price = recurring('0.999', { pricing_period: QUARTER })
    expect(printed({ start, items: [price] }, 6)).toEqual(['0.33', '0.34', '0.33', '0.33', '0.34', '0.33'])
    const items = [{ ...price, item: { ...price.item, type: 'DEDUCTION' as const } }]
    expect(printed({ start, items }, 3)).toEqual(['-0.33', '-0.34', '-0.33'])
  })

  test('from the middle of a pricing period on, what is owed of it is rounded once', () => {
    const items = [recurring('0.999', { pricing_period: QUARTER })]
    expect(printed({ start: '2026-02-01T00:00:00Z', items }, 2)).toEqual(['0.33', '0.34'])
  })

  test('whatever the price, twelve monthly invoices sum to the amount of the year', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000 }), units => {
        const price = decimal(String(units)).div('10000')
        const items = [recurring(plain(price), { pricing_period: YEAR })]
        expect(total(printed({ start, items }, 12))).toBe(plain(toMoney(amount(price, 'EUR')).quantity))
      }),
      { numRuns: 25 },
    )
  })

  test('without rounding every invoice bills its exact part', () => {
    const inputs = exampleInputs({ start, items: [recurring('0.999', { pricing_period: QUARTER })] })
    const rounding_settings = [{ rounding_target: 'INVOICE', rounding_mode: 'UNROUNDED' }]
    const [first] = exampleInvoices({ ...inputs, platform: { ...inputs.platform, rounding_settings } }, 1)
    const line = first?.content.periods[0]?.groups[0]?.lines[0]
    expect(line?.amount_excluding_tax).toEqual(eur('0.333'))
  })
})

test('usage rated per year and billed per month sums to the printed amount of the year', () => {
  const items = [metered([{ amount: eur('0.333') }], { pricing_period: YEAR })]
  const months = (end: number): number => new Date(end).getUTCMonth() || 12
  const usage = ({ interval }: { interval: { end: number } }) => plainUsage(String(months(interval.end)))
  const invoices = exampleInvoices(exampleInputs({ start, items }), 12, usage)
  expect(total(invoices.slice(0, 3).map(each => each.amount_excluding_tax))).toBe('1')
  expect(total(invoices.map(each => each.amount_excluding_tax))).toBe('4')
})
