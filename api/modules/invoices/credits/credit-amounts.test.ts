import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import {
  amountOf,
  type Basis,
  creditShares,
  isWithin,
  minusShares,
  type Share,
  spreadCredit,
} from './credit-amounts.ts'

const share = (base: string, tax: string): Share => ({ base: decimal(base), tax: decimal(tax) })
const text = (shares: readonly Share[]): string[] => shares.map(({ base, tax }) => `${plain(base)}+${plain(tax)}`)
const EUR = { currency: 'EUR' }

describe('a credit of a line', () => {
  test.each<[string, Basis, Share[], string, string[]]>([
    ['all of it', 'EXCLUDING_TAX', [share('100', '21')], '100', ['100+21']],
    ['a part, and its tax', 'EXCLUDING_TAX', [share('100', '21')], '40', ['40+8.4']],
    ['tax rounded half up', 'EXCLUDING_TAX', [share('10', '2.1')], '0.5', ['0.5+0.11']],
    ['an amount with tax', 'INCLUDING_TAX', [share('100', '21')], '60.5', ['50+10.5']],
    ['a line that deducts', 'EXCLUDING_TAX', [share('-20', '-4.2')], '-5', ['-5+-1.05']],
    ['a partly exempt line', 'EXCLUDING_TAX', [share('60', '12.6'), share('40', '0')], '50', ['30+6.3', '20+0']],
    ['no tax at all', 'EXCLUDING_TAX', [share('80', '0')], '12.34', ['12.34+0']],
  ])('%s', (_, basis, left, wanted, expected) => {
    expect(text(creditShares(left, decimal(wanted), { basis, ...EUR }))).toEqual(expected)
  })

  const cents = fc.integer({ min: 1, max: 10_000_000 })
  const lines = fc.record({
    shares: fc.array(fc.record({ base: cents, rate: fc.integer({ min: 0, max: 30 }) }), { minLength: 1, maxLength: 2 }),
    parts: fc.array(fc.integer({ min: 1, max: 99 }), { maxLength: 6 }),
    basis: fc.constantFrom<Basis>('EXCLUDING_TAX', 'INCLUDING_TAX'),
    sign: fc.constantFrom('1', '-1'),
  })

  test('in parts sums to the line, to the last cent of base and tax, and never to more', () => {
    fc.assert(
      fc.property(lines, ({ shares, parts, basis, sign }) => {
        const line = shares.map(({ base, rate }) => ({
          base: decimal(String(base)).times('0.01').times(sign),
          tax: decimal(String(base)).times(String(rate)).times('0.0001').round(2).times(sign),
        }))
        let left: readonly Share[] = line
        const given: Share[][] = []
        for (const percentage of [...parts, 100]) {
          const whole = amountOf(left, basis)
          const wanted = percentage === 100 ? whole : whole.times(String(percentage)).times('0.01').round(2)
          if (!isWithin(wanted, whole)) continue
          const credit = creditShares(left, wanted, { basis, ...EUR })
          expect(amountOf(credit, basis).eq(wanted)).toBe(true)
          given.push(credit)
          left = minusShares(left, credit)
        }
        expect(amountOf(left, basis).eq('0')).toBe(true)
        const credited = sum(given.flat().map(({ base, tax }) => base.plus(tax)))
        expect(plain(credited)).toBe(plain(sum(line.map(({ base, tax }) => base.plus(tax)))))
      }),
    )
  })

  test('more than is left, zero, and the opposite sign are refused', () => {
    for (const [wanted, left] of [
      ['100.01', '100'],
      ['0', '100'],
      ['-1', '100'],
      ['1', '-100'],
      ['-100.01', '-100'],
    ] as const)
      expect([wanted, isWithin(decimal(wanted), decimal(left))]).toEqual([wanted, false])
  })

  test('an amount over several lines sums to the amount', () => {
    const parts = spreadCredit(decimal('10'), [decimal('33.33'), decimal('33.33'), decimal('33.34')], 'EUR')
    expect(plain(sum(parts))).toBe('10')
  })
})
