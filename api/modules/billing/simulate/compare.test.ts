// Comparisons of invoices, by hand.
import { describe, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import type { Id } from '../../../../shared/ids.ts'
import { type BilledLine, changePercentage, compareInvoices, isAbove, outcomeOf } from './compare.ts'
import { breachesOf } from './limits.ts'

const line = (
  kind: BilledLine['kind'],
  product_item_id: Id<'proi'> | null,
  amount_excluding_tax: string,
): BilledLine => ({
  kind,
  product_item_id,
  amount_excluding_tax,
})
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

test('lines are compared by kind and item, and what wallets pay is revenue as well', () => {
  const billed = {
    amount_excluding_tax: '70',
    lines: [
      line('REVENUE', 'proi_tokens', '60'),
      line('REVENUE', 'proi_tokens', '40'),
      line('DISCOUNT', 'proi_tokens', '-10'),
      line('WALLET', 'proi_tokens', '-20'),
    ],
  }
  const simulated = {
    amount_excluding_tax: '75',
    lines: [line('REVENUE', 'proi_tokens', '80'), line('REVENUE', 'proi_storage', '15'), line('WALLET', null, '-20')],
  }
  const of = {
    invoice_id: 'invoice',
    period_start: '2026-03-01T00:00:00Z',
    period_end: '2026-04-01T00:00:00Z',
    currency: 'EUR',
    inputs: { product_items: [] },
  }
  expect(compareInvoices(billed, simulated, of)).toMatchObject({
    invoice_id: 'invoice',
    amount: eur('90'),
    simulated_amount: eur('95'),
    difference: eur('5'),
    lines: [
      {
        type: 'REVENUE',
        product_item_id: 'proi_tokens',
        amount: eur('100'),
        simulated_amount: eur('80'),
        difference: eur('-20'),
      },
      {
        type: 'DISCOUNT',
        product_item_id: 'proi_tokens',
        amount: eur('-10'),
        simulated_amount: eur('0'),
        difference: eur('10'),
      },
      {
        type: 'REVENUE',
        product_item_id: 'proi_storage',
        amount: eur('0'),
        simulated_amount: eur('15'),
        difference: eur('15'),
      },
    ],
  })
})

test.each([
  ['-0.01', 'WINNER'],
  ['0', 'UNCHANGED'],
  ['0.00', 'UNCHANGED'],
  ['0.01', 'LOSER'],
])('who pays %s more is a %s', (difference, outcome) => {
  expect(outcomeOf(decimal(difference))).toBe(outcome)
})

test.each([
  ['100', '5', '5'],
  ['100', '-5', '-5'],
  ['3', '1', '33.3333'],
  ['-100', '5', '5'],
  ['0', '0', '0'],
  ['0', '5', null],
])('of %s a difference of %s is %s percent', (before, difference, expected) => {
  expect(changePercentage(decimal(before), decimal(difference))).toBe(expected)
})

test.each([
  ['5', '100', '5', false],
  ['5', '100', '5.01', true],
  ['5', '100', '-50', false],
  ['0', '100', '0', false],
  ['0', '100', '0.000001', true],
  // Nothing was billed: no percentage allows a rise.
  ['1000', '0', '0.01', true],
  ['1000', '0', '0', false],
])('a limit of %s percent of %s, and a difference of %s', (limit, before, difference, above) => {
  expect(isAbove(decimal(limit), decimal(before), decimal(difference))).toBe(above)
})

describe('a limit that does not hold is named', () => {
  const totals = [
    { currency: 'EUR', amount: decimal('1000'), difference: decimal('-60'), customersAbove: 0, highest: null },
    { currency: 'JPY', amount: decimal('5000'), difference: decimal('10'), customersAbove: 2, highest: 'cust_a' },
  ]
  const none = { max_revenue_change: null, max_customer_increase: null, failed: 0 }
  test.each([
    ['no limit', none, []],
    ['a fall within the limit', { ...none, max_revenue_change: '6' }, []],
    ['a fall beyond it', { ...none, max_revenue_change: '5.9' }, ['max_revenue_change']],
    ['customers beyond theirs', { ...none, max_customer_increase: '10' }, ['max_customer_increase']],
    ['customers that failed without a limit', { ...none, failed: 1 }, []],
    ['customers that failed', { ...none, max_revenue_change: '50', failed: 1 }, ['number_of_failed']],
  ])('%s', (_, limits, expected) => {
    expect(breachesOf(totals, limits).map(({ limit }) => limit)).toEqual(expected)
  })
})
