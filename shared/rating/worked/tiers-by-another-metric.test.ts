import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimal, plain, sum } from '../../decimal.ts'
import { numberVolume } from '../price.ts'
import { rate } from '../rate.ts'
import { price } from '../testing/prices.ts'

const TIERS = [
  { topBound: '10', amount: '1', fixedAmount: '3' },
  { topBound: '100', amount: '0.5' },
  { amount: '0.25' },
]
const STEPS = [{ topBound: '10', fixedAmount: '50' }, { fixedAmount: '200' }]

const cases: readonly [type: string, bands: typeof STEPS | typeof TIERS, used: string, by: string, cost: string][] = [
  // 50 seats decide the tier; the calls are what is charged.
  ['TOP_TIERED', TIERS, '1000', '50', '500'],
  ['TOP_TIERED', TIERS, '1000', '5', '1003'],
  ['TOP_TIERED', TIERS, '1000', '-5', '1003'],
  ['STAIR_STEP', STEPS, '1000', '10', '50'],
  ['STAIR_STEP', STEPS, '1', '11', '200'],
  // A fifth of the position lies in the first tier, so a fifth of the calls is charged there.
  ['TIERED', TIERS, '1000', '50', '603'],
  ['TIERED', TIERS, '1000', '0', '1003'],
  ['TIERED', TIERS, '0', '50', '3'],
]
test.each(cases)('%s %o: %s used, tier of %s, costs %s', (type, bands, used, by, cost) => {
  const rated = rate(price(type, ...bands), numberVolume(decimal(used)), { position: decimal(by) })
  expect(plain(rated.total.quantity)).toBe(cost)
})

test('the units of the tiers still sum to what was used', () => {
  fc.assert(
    fc.property(fc.nat(10_000), fc.nat(1000), (used, by) => {
      const volume = numberVolume(decimal(String(used)))
      const { charges } = rate(price('TIERED', ...TIERS), volume, { position: decimal(String(by)) })
      const units = sum(charges.map(charge => charge.units))
      expect(units.minus(volume.quantity).abs().lt('1e-30')).toBe(true)
    }),
  )
})

test('tiers of numbers charge units and no events, whatever decides on the tier', () => {
  const volume = numberVolume(decimal('1000'), decimal('7'))
  for (const options of [{}, { position: decimal('50') }]) {
    const { charges } = rate(price('TIERED', ...TIERS), volume, options)
    expect(charges.map(({ events }) => plain(events))).toEqual(charges.map(() => '0'))
  }
})
