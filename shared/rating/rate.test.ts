import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, max, min, plain, sum, ZERO } from '../decimal.ts'
import { describeCharge } from './describe.ts'
import { amountVolume, type Band, EMPTY_BAND, type Metric, numberVolume, type Volume } from './price.ts'
import { findPriceModel, isSupportedPricingType, type PriceConfig, rate, SUPPORTED_PRICING_TYPES } from './rate.ts'
import { type BandText, price, priceOf, textOf } from './testing/prices.ts'

const used = (text: string): Volume => numberVolume(decimal(text))
const totalOf = (config: PriceConfig, volume: Volume): string => plain(rate(config, volume).total.quantity)

const TIERS: readonly [BandText, ...BandText[]] = [
  { topBound: '1000', amount: '0.10' },
  { topBound: '10000', amount: '0.08' },
  { amount: '0.05' },
]
const STEPS: readonly [BandText, ...BandText[]] = [
  { topBound: '1000', fixedAmount: '50' },
  { topBound: '10000', fixedAmount: '200' },
  { fixedAmount: '600' },
]

describe('check values of semantics 3.2', () => {
  const cases: readonly [PriceConfig, string, string][] = [
    [price('TIERED', ...TIERS), '0', '0'],
    [price('TIERED', ...TIERS), '1000', '100'],
    [price('TIERED', ...TIERS), '1001', '100.08'],
    [price('TIERED', ...TIERS), '5000', '420'],
    [price('TIERED', ...TIERS), '4000', '340'],
    [price('TIERED', ...TIERS), '12000', '920'],
    [price('TIERED', ...TIERS), '1000.5', '100.04'],
    [price('TIERED', ...TIERS), '-7', '0'],
    [price('TOP_TIERED', ...TIERS), '5000', '400'],
    [price('TOP_TIERED', ...TIERS), '1000', '100'],
    [price('TOP_TIERED', ...TIERS), '1001', '80.08'],
    [price('TOP_TIERED', ...TIERS), '-7', '0'],
    [price('STAIR_STEP', ...STEPS), '0', '50'],
    [price('STAIR_STEP', ...STEPS), '1000', '50'],
    [price('STAIR_STEP', ...STEPS), '1001', '200'],
    [price('STAIR_STEP', ...STEPS), '10001', '600'],
    [price('STAIR_STEP', ...STEPS), '-7', '50'],
    [price('FLAT', { amount: '0.015', blockSize: '1000' }), '3450', '0.05175'],
    [price('FLAT', { amount: '2', fixedAmount: '5' }), '3', '11'],
    [price('FLAT', { amount: '2', fixedAmount: '5' }), '0', '5'],
    [price('FLAT', { amount: '2' }), '-3', '-6'],
    [price('FIXED', { fixedAmount: '25' }), '0', '25'],
    [price('FIXED', { amount: '25' }), '9', '25'],
    [price('NONE', {}), '9', '0'],
  ]
  test.each(cases)('%o of %s costs %s', (config, volume, expected) => {
    expect(totalOf(config, used(volume))).toBe(expected)
  })

  test('scenario F: 1.4 % + 0.25 an event, 12 events worth 3000, costs 45', () => {
    const config = priceOf('FLAT', [{ percentage: '1.4', amount: '0.25' }], { metric: 'AMOUNT' })
    const rated = rate(config, amountVolume(decimal('3000'), 'EUR', decimal('12')))
    expect(plain(rated.total.quantity)).toBe('45')
    expect(rated.charges[0]?.pieces.map(piece => [piece.kind, plain(piece.quantity)])).toEqual([
      ['PERCENTAGE', '42'],
      ['EVENTS', '3'],
    ])
  })

  test('charges the fixed amount of every entered tier and of no other; the first tier is entered without usage', () => {
    const config = price(
      'TIERED',
      { topBound: '10', amount: '1', fixedAmount: '3' },
      { topBound: '20', amount: '1', fixedAmount: '4' },
      { amount: '1', fixedAmount: '100' },
    )
    expect(totalOf(config, used('0'))).toBe('3')
    expect(totalOf(config, used('-4'))).toBe('3')
    expect(totalOf(config, used('10'))).toBe('13')
    expect(totalOf(config, used('11'))).toBe('18')
    expect(totalOf(config, used('20'))).toBe('27')
  })

  test('cost of one event is the difference of two ratings: 0.44 tiered, -19.56 top-tiered', () => {
    const more = (config: PriceConfig): string =>
      plain(rate(config, used('1003')).total.quantity.minus(rate(config, used('998')).total.quantity))
    expect(more(price('TIERED', ...TIERS))).toBe('0.44')
    expect(more(price('TOP_TIERED', ...TIERS))).toBe('-19.56')
  })
})

describe('FLAT_TOP_UP sells whole blocks', () => {
  const BLOCKS: BandText = { amount: '50', blockSize: '10000000' }
  const keeping = priceOf('FLAT_TOP_UP', [BLOCKS], { top_up: { rollover: true } })
  const leftBefore = (left: string) => ({ prior: { rollover: decimal(left) } })

  test('23 million of blocks of 10 million are 3 blocks, 150; the 7 million left serve the next month', () => {
    const june = rate(keeping, used('23000000'))
    expect([plain(june.total.quantity), plain(june.rollover)]).toEqual(['150', '7000000'])
    expect(june.charges.map(charge => describeCharge(charge, 'EUR'))).toEqual(['3 blocks of 10000000 × 50 EUR'])
    const july = rate(keeping, used('9000000'), { prior: june })
    expect([plain(july.total.quantity), plain(july.rollover)]).toEqual(['50', '8000000'])
  })

  const cases: readonly [used: string, before: string, cost: string, left: string][] = [
    ['0', '0', '0', '0'],
    ['-5', '0', '0', '0'],
    ['1', '0', '50', '9999999'],
    ['10000000', '0', '50', '0'],
    ['10000000.001', '0', '100', '9999999.999'],
    ['7000000', '7000000', '0', '0'],
    ['3000000', '7000000', '0', '4000000'],
    ['7000001', '7000000', '50', '9999999'],
  ]
  test.each(cases)('%s used with %s left from before costs %s and leaves %s', (volume, before, cost, left) => {
    const rated = rate(keeping, used(volume), leftBefore(before))
    expect([plain(rated.total.quantity), plain(rated.rollover)]).toEqual([cost, left])
  })

  test('without rollover nothing is kept, and what is kept elsewhere does not count', () => {
    const rated = rate(price('FLAT_TOP_UP', BLOCKS), used('3000000'), leftBefore('7000000'))
    expect([plain(rated.total.quantity), plain(rated.rollover)]).toEqual(['50', '0'])
  })

  test('blocks of a third of a unit are counted whole where they come out even', () => {
    const config = price('FLAT_TOP_UP', { amount: '1', blockSize: '0.3' })
    expect(['0.9', '0.91', '1'].map(text => totalOf(config, used(text)))).toEqual(['3', '4', '4'])
  })
})

describe('every figure of a charge is shown', () => {
  test('tiers name their band, bounds, units and price', () => {
    const { charges } = rate(price('TIERED', ...TIERS), used('1200'))
    expect(
      charges.map(charge => [
        charge.bandIndex,
        plain(charge.lowerBound),
        charge.topBound && plain(charge.topBound),
        plain(charge.units),
        plain(charge.quantity),
        charge.priceBound,
        describeCharge(charge, 'EUR'),
      ]),
    ).toEqual([
      [0, '0', '1000', '1000', '100', null, '1000 × 0.1 EUR'],
      [1, '1000', '10000', '200', '16', null, '200 × 0.08 EUR'],
    ])
  })

  const bounded: readonly [string, BandText, string, string, string | null, string][] = [
    [
      'minimum amount',
      { amount: '2', minimumAmount: '10' },
      '1',
      '10',
      'MINIMUM_AMOUNT',
      '1 × 2 EUR → minimum amount 10 EUR',
    ],
    [
      'maximum amount',
      { amount: '2', maximumAmount: '10' },
      '9',
      '10',
      'MAXIMUM_AMOUNT',
      '9 × 2 EUR → maximum amount 10 EUR',
    ],
    ['no bound at the limit', { amount: '2', maximumAmount: '10' }, '5', '10', null, '5 × 2 EUR'],
    ['no bound at the minimum', { amount: '2', minimumAmount: '10' }, '5', '10', null, '5 × 2 EUR'],
    ['minimum number', { amount: '2', minimumNumber: '3' }, '1', '6', 'MINIMUM_NUMBER', '3 × 2 EUR'],
    ['maximum number', { amount: '2', maximumNumber: '3' }, '8', '6', 'MAXIMUM_NUMBER', '3 × 2 EUR'],
    [
      'floor without usage',
      { amount: '2', minimumAmount: '10' },
      '0',
      '10',
      'MINIMUM_AMOUNT',
      '0 × 2 EUR → minimum amount 10 EUR',
    ],
    ['block', { amount: '3', blockSize: '50', fixedAmount: '1' }, '75', '5.5', null, 'fixed 1 EUR + 75 ÷ 50 × 3 EUR'],
  ]
  test.each(bounded)('%s', (_name, bands, volume, expected, bound, words) => {
    const [charge] = rate(price('FLAT', bands), used(volume)).charges
    expect(charge && plain(charge.quantity)).toBe(expected)
    expect(charge?.priceBound).toBe(bound)
    expect(charge && describeCharge(charge, 'EUR')).toBe(words)
  })

  test('metered money in another currency is refused', () => {
    const config = priceOf('FLAT', [{ percentage: '1' }], { metric: 'AMOUNT' })
    expect(() => rate(config, amountVolume(decimal('1'), 'USD', ZERO))).toThrow(/USD cannot be priced in EUR/)
  })

  test('the types a catalog may save are exactly those that rate', () => {
    expect(SUPPORTED_PRICING_TYPES).toEqual([
      'FLAT',
      'FIXED',
      'TIERED',
      'TOP_TIERED',
      'STAIR_STEP',
      'FLAT_TOP_UP',
      'TIERED_TOP_UP',
      'STAIR_STEP_TOP_UP',
      'PASS_THROUGH',
      'FLEXIBLE',
      'NONE',
    ])
    expect(isSupportedPricingType('PER_UNIT')).toBe(false)
    expect(isSupportedPricingType('toString')).toBe(false)
  })
})

const figure = (max: number, places: number): fc.Arbitrary<Decimal> =>
  fc.integer({ min: 0, max: max * 10 ** places }).map(value => decimal(`${value}e-${places}`))
type Bands = readonly [Band, ...Band[]]
const anyAmount = figure(1000, 6)
const quantityOf = figure(100_000, 3)

const bandsOf = (prices: fc.Arbitrary<Decimal>): fc.Arbitrary<Bands> =>
  fc
    .record({
      bounds: fc.uniqueArray(fc.integer({ min: 1, max: 50_000 }), { maxLength: 5 }),
      amounts: fc.array(prices, { minLength: 6, maxLength: 6 }),
      fixed: fc.array(prices, { minLength: 6, maxLength: 6 }),
    })
    .map(({ bounds, amounts, fixed }) => {
      const sorted = [...bounds].sort((a, b) => a - b)
      const at = (index: number): Band => ({
        ...EMPTY_BAND,
        topBound: sorted[index] === undefined ? null : decimal(String(sorted[index])),
        amount: amounts[index] ?? ZERO,
        fixedAmount: fixed[index] ?? ZERO,
      })
      return [at(0), ...sorted.map((_bound, index) => at(index + 1))]
    })

/** A price of the members its model takes: others of the bands are left out, and all but the first where there are no tiers. */
function configOf(pricingType: string, bands: Bands, metric: Metric = 'NUMBER'): PriceConfig {
  const model = findPriceModel(pricingType)
  const [first] = bands
  const own = model?.bands === 'tiers' ? bands : model?.bands === 'one' ? [{ ...first, topBound: null }] : []
  const taken = own.map(({ topBound, ...band }) => ({
    ...Object.fromEntries(Object.entries(band).filter(([name]) => model?.takes.some(field => field === name))),
    // A lump sum is given in one member only.
    ...(model?.basis === 'lump' ? { amount: null } : {}),
    topBound,
  }))
  return priceOf(pricingType, taken.map(textOf), { metric })
}

const PRICES_OF_NUMBERS = SUPPORTED_PRICING_TYPES.filter(type => findPriceModel(type)?.metrics.includes('NUMBER'))

describe('laws', () => {
  test('the units of the tiers sum to the volume, and pieces to charges to the total', () => {
    fc.assert(
      fc.property(bandsOf(anyAmount), quantityOf, fc.constantFrom(...PRICES_OF_NUMBERS), (bands, volume, type) => {
        const rated = rate(configOf(type, bands), numberVolume(volume))
        for (const charge of rated.charges) {
          expect(sum(charge.pieces.map(piece => piece.quantity)).eq(charge.quantity)).toBe(true)
        }
        expect(sum(rated.charges.map(charge => charge.quantity)).eq(rated.total.quantity)).toBe(true)
        if (type === 'TIERED') expect(sum(rated.charges.map(charge => charge.units)).eq(volume)).toBe(true)
      }),
    )
  })

  test('FLAT, FIXED and TIERED never cost less for more usage when no price is negative', () => {
    fc.assert(
      fc.property(
        bandsOf(anyAmount),
        quantityOf,
        quantityOf,
        fc.constantFrom('FLAT', 'FIXED', 'TIERED', 'NONE'),
        (bands, volume, more, type) => {
          const before = rate(configOf(type, bands), numberVolume(volume)).total.quantity
          const after = rate(configOf(type, bands), numberVolume(volume.plus(more))).total.quantity
          expect(after.gte(before)).toBe(true)
        },
      ),
    )
  })

  test('tiers of one price cost what a flat price does', () => {
    fc.assert(
      fc.property(bandsOf(fc.constant(ZERO)), anyAmount, quantityOf, (bands, unit, volume) => {
        const [first, ...rest] = bands
        const even: Bands = [{ ...first, amount: unit }, ...rest.map(band => ({ ...band, amount: unit }))]
        const tiered = rate(configOf('TIERED', even), numberVolume(volume)).total.quantity
        const top = rate(configOf('TOP_TIERED', even), numberVolume(volume)).total.quantity
        expect(tiered.eq(unit.times(volume))).toBe(true)
        expect(top.eq(unit.times(volume))).toBe(true)
      }),
    )
  })

  test('tiers of one percentage and event price cost what a flat one does, on metered money', () => {
    fc.assert(
      fc.property(
        bandsOf(fc.constant(ZERO)),
        anyAmount,
        anyAmount,
        quantityOf,
        fc.nat(1000),
        (bands, unit, share, volume, count) => {
          fc.pre(volume.gt(ZERO))
          const one = { ...EMPTY_BAND, amount: unit, percentage: share }
          const [first, ...rest] = bands
          const even: Bands = [
            { ...one, topBound: first.topBound },
            ...rest.map(band => ({ ...one, topBound: band.topBound })),
          ]
          const money = amountVolume(volume, 'EUR', decimal(String(count)))
          const tiered = rate(configOf('TIERED', even, 'AMOUNT'), money).total.quantity
          const flat = rate(configOf('FLAT', [one], 'AMOUNT'), money).total.quantity
          // A band's share of the events is a ratio kept to 40 places.
          expect(tiered.minus(flat).abs().lt('1e-25')).toBe(true)
        },
      ),
    )
  })

  test('added usage costs the price of each band over the added part, plus the bands newly entered', () => {
    fc.assert(
      fc.property(bandsOf(anyAmount), quantityOf, quantityOf, (bands, first, more) => {
        const config = configOf('TIERED', bands)
        const upTo = (volume: Decimal): Decimal => rate(config, numberVolume(volume)).total.quantity
        const added = upTo(first.plus(more)).minus(upTo(first))
        expect(added.eq(costBetween(bands, first, first.plus(more)))).toBe(true)
      }),
    )
  })
})

/** An independent calculation that does not walk from zero: every band over its overlap with (from, to]. */
function costBetween(bands: Bands, from: Decimal, to: Decimal): Decimal {
  const parts = bands.map((band, index) => {
    const floor = bands[index - 1]?.topBound ?? ZERO
    const overlap = min(band.topBound ?? to, to).minus(max(floor, from))
    // The first band is entered without usage, so usage itself never enters it.
    const entered = index > 0 && from.lte(floor) && floor.lt(to)
    return max(overlap, ZERO)
      .times(band.amount ?? ZERO)
      .plus(entered ? (band.fixedAmount ?? ZERO) : ZERO)
  })
  return sum(parts)
}
