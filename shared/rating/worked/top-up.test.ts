import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain, ZERO } from '../../decimal.ts'
import { describeCharge } from '../describe.ts'
import { numberVolume } from '../price.ts'
import { type PriceConfig, type RatedPrice, rate } from '../rate.ts'
import { price, priceOf } from '../testing/prices.ts'

const keep = { top_up: { rollover: true } }
const TIERED = [
  { topBound: '20', amount: '10', blockSize: '10' },
  { amount: '8', blockSize: '10' },
]
const STEPS = [{ topBound: '10', fixedAmount: '50' }, { topBound: '100', fixedAmount: '200' }, { fixedAmount: '600' }]

/** Cost and unused rest of every month. */
function months(config: PriceConfig, used: readonly string[]): string[] {
  let before: RatedPrice | undefined
  return used.map(text => {
    before = rate(config, numberVolume(decimal(text)), before ? { prior: before } : {})
    return `${plain(before.total.quantity)} left ${plain(before.rollover)}`
  })
}

describe('what is left of the last block serves the next pricing period', () => {
  test.each<[string, PriceConfig, string[], string[]]>([
    [
      'TIERED_TOP_UP',
      priceOf('TIERED_TOP_UP', TIERED, keep),
      ['25', '5', '1', '26'],
      ['28 left 5', '0 left 0', '10 left 9', '20 left 3'],
    ],
    ['TIERED_TOP_UP without rollover', price('TIERED_TOP_UP', ...TIERED), ['25', '5'], ['28 left 0', '10 left 0']],
    [
      'STAIR_STEP_TOP_UP',
      priceOf('STAIR_STEP_TOP_UP', STEPS, keep),
      ['11', '0', '195'],
      ['250 left 89', '50 left 99', '250 left 4'],
    ],
    [
      'STAIR_STEP_TOP_UP without rollover',
      price('STAIR_STEP_TOP_UP', ...STEPS),
      ['11', '0'],
      ['250 left 0', '50 left 0'],
    ],
  ])('%s', (_name, config, used, expected) => expect(months(config, used)).toEqual(expected))
})

test('each band says how many blocks it sold, and a step how often', () => {
  const words = (config: PriceConfig, used: string) =>
    rate(config, numberVolume(decimal(used))).charges.map(charge => describeCharge(charge, 'EUR'))
  expect(words(price('TIERED_TOP_UP', ...TIERED), '35')).toEqual(['2 blocks of 10 × 10 EUR', '2 blocks of 10 × 8 EUR'])
  expect(words(price('STAIR_STEP_TOP_UP', ...STEPS), '281')).toEqual([
    'fixed 50 EUR',
    'fixed 200 EUR',
    '3 × fixed 600 EUR',
  ])
})

test('nothing bought is lost: usage plus rest equals the earlier rest plus what was bought', () => {
  const amounts = fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(amounts, fc.integer({ min: 1, max: 400 }), (used, size) => {
      const config = priceOf('FLAT_TOP_UP', [{ amount: '1', blockSize: `0.${size}` }], keep)
      let rollover: Decimal = ZERO
      for (const text of used) {
        const volume = decimal(`${text}e-2`)
        const rated = rate(config, numberVolume(volume), { prior: { rollover } })
        const bought = rated.total.quantity.times(`0.${size}`)
        expect(rollover.plus(bought).eq(volume.plus(rated.rollover))).toBe(true)
        expect(rated.rollover.gte(ZERO) && rated.rollover.lt(`0.${size}`)).toBe(true)
        rollover = rated.rollover
      }
    }),
  )
})

test('equal block prices in every band cost the same as one band', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 1, max: 90 }), (used, bound) => {
      const volume = numberVolume(decimal(`${used}e-2`))
      const block = { amount: '3', blockSize: '7' }
      const tiered = rate(price('TIERED_TOP_UP', { ...block, topBound: String(bound) }, block), volume)
      expect(plain(tiered.total.quantity)).toBe(plain(rate(price('FLAT_TOP_UP', block), volume).total.quantity))
    }),
  )
})
