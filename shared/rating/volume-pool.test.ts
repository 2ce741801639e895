import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimal, plain, sum } from '../decimal.ts'
import { toMoney } from '../money.ts'
import { amountVolume, numberVolume } from './price.ts'
import { rate } from './rate.ts'
import { price } from './testing/prices.ts'
import { type PoolMember, ratePool } from './volume-pool.ts'

const TIERS = [{ topBound: '1000', amount: '0.10' }, { amount: '0.08' }]
const member = (key: string, used: string, config = price('TIERED', ...TIERS)): PoolMember => ({
  key,
  config,
  volume: numberVolume(decimal(used)),
})
const printed = (members: readonly PoolMember[]): string[] =>
  ratePool(members).map(({ key, total }) => `${key} ${plain(toMoney(total).quantity)}`)

test('E: a pool of 800 and 700 costs 140.00: 74.67 and 65.33', () => {
  const pooled = ratePool([member('A', '800'), member('B', '700')])
  expect(plain(pooled[0]?.pool.total.quantity ?? decimal('0'))).toBe('140')
  expect(printed([member('A', '800'), member('B', '700')])).toEqual(['A 74.67', 'B 65.33'])
})

test('a member pays its own price for its share of every band', () => {
  const dear = price('TIERED', { topBound: '1000', amount: '1' }, { amount: '0.5' })
  expect(printed([member('A', '500'), member('B', '1500', dear)])).toEqual(['A 45', 'B 1125'])
})

test('without usage the fixed amount of the first band is shared alike', () => {
  const config = price('TIERED', { topBound: '10', amount: '1', fixedAmount: '9' }, { amount: '1' })
  expect(printed([member('A', '0', config), member('B', '0', config)])).toEqual(['A 4.5', 'B 4.5'])
  expect(ratePool([])).toEqual([])
})

test('numbers and money have no pool', () => {
  const money = { ...member('B', '1'), volume: amountVolume(decimal('1'), 'EUR', decimal('1')) }
  expect(() => ratePool([member('A', '1'), money])).toThrow(/one unit/)
})

test('members of one price sum to the price of the pool, in any order', () => {
  const volumes = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(volumes, used => {
      const members = used.map((volume, index) => member(`m${index}`, String(volume)))
      const pooled = ratePool(members)
      const whole = rate(price('TIERED', ...TIERS), numberVolume(decimal(String(used.reduce((a, b) => a + b, 0)))))
      const all = sum(pooled.map(({ total }) => total.quantity))
      expect(all.minus(whole.total.quantity).abs().lt('1e-30')).toBe(true)
      expect(printed(members.toReversed()).toSorted()).toEqual(printed(members).toSorted())
    }),
  )
})
