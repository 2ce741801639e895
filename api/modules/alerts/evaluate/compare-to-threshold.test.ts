import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { ENTITLEMENT_COMPARATORS } from '../check-rule.ts'
import type { RuleEntitlement } from '../schema.ts'
import { compareToThreshold, type Granted } from './compare-to-threshold.ts'

type Comparator = (typeof ENTITLEMENT_COMPARATORS)[number]
const rule = (comparator: Comparator, threshold: RuleEntitlement['threshold']): RuleEntitlement => ({
  feature_id: 'feat_1',
  comparator,
  threshold,
})
const used = (number: string, currency: string | null = null) => ({ number: decimal(number), currency, count: 1 })
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const usd = (quantity: string) => ({ quantity, currency: 'USD' })

describe('what is used', () => {
  test.each<[threshold: RuleEntitlement['threshold'], granted: Granted, used: string, over: boolean, atLeast: boolean]>(
    [
      [{ number: '80' }, { number: '100' }, '79.999999999999', false, false],
      [{ number: '80' }, { number: '100' }, '80', false, true],
      [{ number: '80' }, { number: '100' }, '80.000000000001', true, true],
      [{ percentage: '80' }, { number: '100' }, '80', false, true],
      // A tenth of 0.3 is 0.03, which floats do not know.
      [{ percentage: '10' }, { number: '0.3' }, '0.03', false, true],
      [{ percentage: '33.333333333333' }, { number: '3' }, '0.99999999999999', false, true],
      [{ percentage: '100' }, { number: '0' }, '0', false, true],
      [{ percentage: '0' }, { number: '100' }, '0', false, true],
      [{ percentage: '120' }, { number: '10' }, '12.1', true, true],
      [{ number: '-1' }, { number: '0' }, '-2', false, false],
    ],
  )('against %o of %o: %s', (threshold, granted, number, over, atLeast) => {
    const holds = (comparator: Comparator) =>
      compareToThreshold(rule(comparator, threshold), granted, [used(number)])?.holds
    expect([holds('GREATER_THAN'), holds('GREATER_THAN_OR_EQUALS')]).toEqual([over, atLeast])
    expect([holds('LESS_THAN_OR_EQUALS'), holds('LESS_THAN')]).toEqual([!over, !atLeast])
  })

  test('is nothing where no event is, and money of the threshold alone', () => {
    expect(compareToThreshold(rule('LESS_THAN', { number: '1' }), { number: '5' }, [])).toEqual({
      holds: true,
      entitlement_value: { number: '5' },
      threshold_value: { number: '1' },
      used_value: { number: '0' },
    })
    const figures = [used('7'), used('90', 'EUR'), used('1000', 'USD')]
    expect(compareToThreshold(rule('GREATER_THAN', { percentage: '80' }), { amount: eur('100') }, figures)).toEqual({
      holds: true,
      entitlement_value: { amount: eur('100') },
      threshold_value: { amount: eur('80') },
      used_value: { amount: eur('90') },
    })
    const fixed = compareToThreshold(rule('GREATER_THAN', { amount: usd('2000') }), { amount: eur('100') }, figures)
    expect([fixed?.holds, fixed?.used_value]).toEqual([false, { amount: usd('1000') }])
  })

  test('is held against nothing where nothing is granted', () => {
    for (const threshold of [{ percentage: '80' }, { number: '1' }])
      expect(compareToThreshold(rule('GREATER_THAN', threshold), {}, [used('5')])).toBeNull()
  })
})

const quantities = fc.tuple(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), fc.nat(12)).map(([whole, places]) => {
  const digits = (whole < 0n ? -whole : whole).toString().padStart(places + 1, '0')
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
  return plain(decimal(`${whole < 0n ? '-' : ''}${text}`))
})
const shares = quantities.map(text => text.replace('-', ''))
const holds = (comparator: Comparator, threshold: RuleEntitlement['threshold'], granted: string, number: string) =>
  compareToThreshold(rule(comparator, threshold), { number: granted }, [used(number)])?.holds

test('a comparison and its opposite: always one of them holds, and equal is both or-equals', () => {
  fc.assert(
    fc.property(quantities, quantities, (number, threshold) => {
      const [gt, gte, lt, lte] = ENTITLEMENT_COMPARATORS.map(each => holds(each, { number: threshold }, '1', number))
      expect([lte, lt]).toEqual([!gt, !gte])
      expect(gte && lte).toBe(decimal(number).eq(decimal(threshold)))
    }),
  )
})

test('a share of what is granted is the number it comes to, to the last decimal', () => {
  fc.assert(
    fc.property(quantities, shares, fc.constantFrom(...ENTITLEMENT_COMPARATORS), (granted, share, comparator) => {
      const exact = decimal(granted).times(decimal(share)).div(decimal('100'))
      const found = compareToThreshold(rule(comparator, { percentage: share }), { number: granted }, [
        { number: exact, currency: null, count: 1 },
      ])
      expect(found?.threshold_value).toEqual({ number: plain(exact) })
      expect(found?.holds).toBe(comparator.endsWith('OR_EQUALS'))
    }),
  )
})

test('whoever has crossed a threshold has crossed it with more, and it does not matter in which unit both are', () => {
  fc.assert(
    fc.property(quantities, shares, quantities, shares, (granted, share, number, more) => {
      const over = holds('GREATER_THAN', { percentage: share }, granted, number)
      const further = plain(decimal(number).plus(decimal(more)))
      if (over) expect(holds('GREATER_THAN', { percentage: share }, granted, further)).toBe(true)
      const scaled = (text: string) => plain(decimal(text).times(decimal('1000')))
      expect(holds('GREATER_THAN', { percentage: share }, scaled(granted), scaled(number))).toBe(over)
    }),
  )
})
