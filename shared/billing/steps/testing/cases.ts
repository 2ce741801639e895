// Worked cases of clauses as rows, and what they are of.
import { expect, test } from 'vitest'
import { decimal } from '../../../decimal.ts'
import { taxAtRate } from '../../tax/tax.ts'
import type { Clauses, Commitment, DiscountCondition } from '../clauses.ts'
import type { Line, LinePeriod } from '../line.ts'
import type { StepContext } from '../step.ts'
import { commitment, discount, invoiceOf, MARCH, made, off, span, totals } from './lines.ts'

export const CONFIG = { level: 'CONFIG', ids: ['pico_1'] } as const
export const ITEM = { level: 'ITEM', ids: ['prii_1'] } as const
export const PRODUCT = { level: 'PRODUCT', ids: ['prod_1'] } as const
export const OTHER = { level: 'CONFIG', ids: ['pico_2'] } as const
export const COUPON = { couponId: 'coup_1', promotionCodeId: null }
export const of2 = { of: { configId: 'pico_2', itemId: 'prii_2', productItemId: 'proi_2' } }
export const exempt = { taxCategory: 'EXEMPT' } as const
export const untaxed = { taxCategory: 'NO_TAX' } as const
/** 1 to 15 March, 15 of 31 days. */
export const FIRST_HALF = span('2026-03-01', '2026-03-16')
export const half: { readonly period: LinePeriod } = { period: { service: FIRST_HALF, full: MARCH.full } }
export const APRIL_TIME = span('2026-04-01', '2026-05-01')
export const april: { readonly period: LinePeriod } = { period: { service: APRIL_TIME, full: APRIL_TIME } }
export const when = (comparator: DiscountCondition['comparator'], amount: string) => ({
  condition: { comparator, amount: decimal(amount) },
})
export const gross = (percentage: string, currency = 'EUR'): Partial<StepContext> => ({
  tax: taxAtRate('VAT', percentage),
  amountType: 'INCLUDING_TAX',
  currency,
})
export const net = (percentage: string, currency: string): Partial<StepContext> => ({
  tax: taxAtRate('VAT', percentage),
  currency,
})
/** A minimum of units at 0.50 each. */
export const units = (id: string, number: string): Commitment => ({
  ...commitment(id, '0', { of: CONFIG }),
  value: { kind: 'NUMBER', number: decimal(number), priceOf: of => of.times(decimal('0.5')) },
})
export const used = (volume: string) => ({ volume: decimal(volume) })
export const wallet = (walletId: string, available: string) => ({
  ...{ walletId, taxCategory: 'STANDARD' as const, currency: 'EUR' },
  available: decimal(available),
})
export const of = (target: typeof CONFIG | typeof ITEM | typeof PRODUCT | typeof OTHER) => ({ of: target })
export const off10 = { discounts: [discount('d', off('10'), of(CONFIG))] }
export const half31 = { during: FIRST_HALF, of: CONFIG }
export const minimum = (amount: string): Partial<Clauses> => ({ commitments: [commitment('c', amount, of(CONFIG))] })

/** What it shows, the lines, their clauses, the lines that steps make, and net, tax and gross. */
export type Case = readonly [string, Line[], Partial<Clauses>, string[], string, Partial<StepContext>?]

/** A test of each: VAT is 21 % unless a row says otherwise. */
export function testCases(cases: readonly Case[]): void {
  for (const [name, lines, clauses, expected, sums, given = {}] of cases)
    test(name, () => {
      const invoice = invoiceOf(lines, clauses, given)
      expect(made(invoice)).toEqual(expected)
      expect(totals(invoice)).toBe(sums)
    })
}
