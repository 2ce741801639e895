import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum } from '../decimal.ts'
import { amount, toMoney } from '../money.ts'
import { amountVolume, numberVolume } from './price.ts'
import { type PriceConfig, rate } from './rate.ts'
import { price, priceOf } from './testing/prices.ts'
import { rateInPool } from './volume-pool.ts'

const TIERS = [{ topBound: '1000', amount: '0.10' }, { amount: '0.08' }]
const SHARED = price('TIERED', ...TIERS)
type Member = { readonly used: string; readonly config?: PriceConfig }

/** What each member is charged. */
const charges = (members: readonly Member[]): Decimal[] => {
  const volumes = members.map(({ used }) => numberVolume(decimal(used)))
  return members.map(({ config = SHARED }, index) => {
    const own = volumes[index] ?? numberVolume(decimal('0'))
    return rateInPool(config, own, volumes.toSpliced(index, 1)).rated.total.quantity
  })
}
const printed = (members: readonly Member[]): string[] =>
  charges(members).map(quantity => plain(toMoney(amount(quantity, 'EUR')).quantity))

test('E: a pool of 800 and 700 costs 140.00: 74.67 and 65.33', () => {
  expect(printed([{ used: '800' }, { used: '700' }])).toEqual(['74.67', '65.33'])
  expect(plain(toMoney(amount(sum(charges([{ used: '800' }, { used: '700' }])), 'EUR')).quantity)).toBe('140')
})

test('a member shows its share of each band, with the pieces of the pool', () => {
  const { volume, share, rated } = rateInPool(SHARED, numberVolume(decimal('500')), [numberVolume(decimal('1500'))])
  expect([plain(volume.quantity), plain(share.numerator), plain(share.denominator)]).toEqual(['2000', '500', '2000'])
  expect(rated.charges.map(({ units, quantity }) => `${plain(units)} ${plain(quantity)}`)).toEqual(['250 25', '250 20'])
  expect(rated.charges.map(({ pieces }) => pieces.map(piece => plain(piece.quantity)))).toEqual([['100'], ['80']])
  expect(plain(rated.volume.quantity)).toBe('500')
})

test('a member pays its own price for its share of every band', () => {
  const dear = price('TIERED', { topBound: '1000', amount: '1' }, { amount: '0.5' })
  expect(printed([{ used: '500' }, { used: '1500', config: dear }])).toEqual(['45', '1125'])
})

test('without usage the fixed amount of the first band is shared equally', () => {
  const config = price('TIERED', { topBound: '10', amount: '1', fixedAmount: '9' }, { amount: '1' })
  expect(
    printed([
      { used: '0', config },
      { used: '0', config },
    ]),
  ).toEqual(['4.5', '4.5'])
})

test('numbers and money have no pool', () => {
  const money = amountVolume(decimal('1'), 'EUR', decimal('1'))
  expect(() => rateInPool(SHARED, numberVolume(decimal('1')), [money])).toThrow('not NUMBER and EUR')
  const dollars = amountVolume(decimal('1'), 'USD', decimal('1'))
  expect(() => rateInPool(SHARED, money, [dollars])).toThrow('not EUR and USD')
  const whole = priceOf('FLAT', [{ percentage: '10' }], { metric: 'AMOUNT' })
  expect(plain(rateInPool(whole, money, [money]).rated.total.quantity)).toBe('0.1')
})

test('members of one price sum to the price of the pool, in any order', () => {
  const volumes = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(volumes, used => {
      const members = used.map(volume => ({ used: String(volume) }))
      const whole = rate(SHARED, numberVolume(decimal(String(used.reduce((a, b) => a + b, 0)))))
      expect(sum(charges(members)).minus(whole.total.quantity).abs().lt('1e-30')).toBe(true)
      expect(printed(members.toReversed()).toSorted()).toEqual(printed(members).toSorted())
    }),
  )
})
