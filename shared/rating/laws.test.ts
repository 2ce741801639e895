// Laws of tiered prices, for random prices and volumes. rate.test.ts has more of them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum, ZERO } from '../decimal.ts'
import { numberVolume } from './price.ts'
import { type PriceConfig, rate } from './rate.ts'
import { type BandText, price, priceOf } from './testing/prices.ts'

const text = (highest: number, places = 4) =>
  fc.integer({ min: 0, max: highest }).map(value => plain(decimal(`${value}e-${places}`)))
const tops = fc.uniqueArray(fc.integer({ min: 1, max: 500 }), { maxLength: 4 }).map(list => list.sort((a, b) => a - b))
/** Bands that differ in one member. */
const bandsOf = (member: 'amount' | 'fixedAmount') =>
  fc.tuple(tops, fc.array(text(99_999), { minLength: 5, maxLength: 5 })).map(([ends, prices]) =>
    [...ends.map(String), null].map(
      (topBound, index): BandText => ({
        [member]: prices[index] ?? '1',
        ...(topBound === null ? {} : { topBound }),
      }),
    ),
  )
const volume = text(900_000, 3)
const costOf = (config: PriceConfig, used: Decimal): Decimal => rate(config, numberVolume(used)).total.quantity
const placeOf = (bands: readonly BandText[], used: Decimal): number =>
  bands.findIndex(({ topBound }) => topBound === undefined || used.lte(topBound))

test('TIERED is continuous: just beyond a bound it costs as much as at the bound, plus the price of the excess', () => {
  const beyond = decimal('0.000001')
  fc.assert(
    fc.property(bandsOf('amount'), bands => {
      const config = price('TIERED', ...bands)
      for (const [index, { topBound }] of bands.entries()) {
        if (topBound === undefined) continue
        const next = decimal(bands[index + 1]?.amount ?? '0').times(beyond)
        const step = costOf(config, decimal(topBound).plus(beyond)).minus(costOf(config, decimal(topBound)))
        expect(plain(step)).toBe(plain(next))
      }
    }),
  )
})

test('TOP_TIERED costs what the band that contains the volume charges alone', () => {
  fc.assert(
    fc.property(bandsOf('amount'), volume, (bands, used) => {
      const { topBound: _top, ...band } = bands[placeOf(bands, decimal(used))] ?? {}
      expect(plain(costOf(price('TOP_TIERED', ...bands), decimal(used)))).toBe(
        plain(costOf(price('FLAT', band), decimal(used))),
      )
    }),
  )
})

test('STAIR_STEP charges the step reached; STEPS_REACHED charges every step up to it', () => {
  fc.assert(
    fc.property(bandsOf('fixedAmount'), volume, (bands, used) => {
      const place = placeOf(bands, decimal(used))
      const fees = bands.map(({ fixedAmount }) => decimal(fixedAmount ?? '0'))
      const all = priceOf('STAIR_STEP', bands, { step_accumulation: 'STEPS_REACHED' })
      expect(plain(costOf(price('STAIR_STEP', ...bands), decimal(used)))).toBe(plain(fees[place] ?? ZERO))
      expect(plain(costOf(all, decimal(used)))).toBe(plain(sum(fees.slice(0, place + 1))))
    }),
  )
})

test('how a decimal is written never changes what it costs', () => {
  const zeros = (value: string): string => (value.includes('.') ? `${value}000` : `${value}.000`)
  fc.assert(
    fc.property(fc.constantFrom('TIERED', 'TOP_TIERED'), bandsOf('amount'), volume, (type, bands, used) => {
      const padded = bands.map(band => ({
        ...(band.amount === undefined ? {} : { amount: zeros(band.amount) }),
        ...(band.topBound === undefined ? {} : { topBound: zeros(band.topBound) }),
      }))
      expect(plain(costOf(price(type, ...padded), decimal(zeros(used))))).toBe(
        plain(costOf(price(type, ...bands), decimal(used))),
      )
    }),
  )
})

test('earlier ratings of a price never change its next rating', () => {
  fc.assert(
    fc.property(bandsOf('amount'), fc.array(volume, { minLength: 2, maxLength: 8 }), (bands, list) => {
      const config = price('TIERED', ...bands)
      const forwards = list.map(used => plain(costOf(config, decimal(used))))
      const backwards = list.toReversed().map(used => plain(costOf(config, decimal(used))))
      const anew = list.map(used => plain(costOf(price('TIERED', ...bands), decimal(used))))
      expect(forwards).toEqual(backwards.toReversed())
      expect(forwards).toEqual(anew)
    }),
  )
})
