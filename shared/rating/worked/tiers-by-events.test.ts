// Tiers that are bounded by numbers of events (`tier_top_bound.count`), and blocks of metered money (`block_size.amount`).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, decimalOfInteger, plain, sum } from '../../decimal.ts'
import { priceCurve } from '../curve/curve.ts'
import { describeCharge } from '../describe.ts'
import { parsePriceConfig } from '../parse/parse-price-config.ts'
import { amountVolume, type Metric, numberVolume, type Volume } from '../price.ts'
import { type PriceConfig, rate } from '../rate.ts'
import { type BandText, priceOf } from '../testing/prices.ts'
import { rateInPool } from '../volume-pool.ts'

const by = (topBound: string): BandText => ({ topBound, boundOf: 'COUNT' })
const volumeOf = (metric: Metric, quantity: string, count: string): Volume =>
  metric === 'AMOUNT'
    ? amountVolume(decimal(quantity), 'EUR', decimal(count))
    : numberVolume(decimal(quantity), decimal(count))
const cost = (config: PriceConfig, volume: Volume): string => plain(rate(config, volume).total.quantity)

const TIERS: BandText[] = [
  { ...by('100'), percentage: '2' },
  { percentage: '1', amount: '0.10' },
]
const CALLS: BandText[] = [{ ...by('10'), amount: '1', fixedAmount: '3' }, { amount: '0.5' }]
const STEPS: BandText[] = [
  { ...by('10'), fixedAmount: '50' },
  { ...by('100'), fixedAmount: '70' },
  { fixedAmount: '200' },
]

describe('tiers by events', () => {
  const cases: readonly [string, Metric, BandText[], quantity: string, count: string, cost: string][] = [
    ['TIERED', 'AMOUNT', TIERS, '5000', '100', '100'],
    ['TIERED', 'AMOUNT', TIERS, '5000', '200', '85'],
    // 1 of 101 events is in the second band, with its part of the money: 100/101 × 100 + 1/101 × 50 + 0.10.
    ['TIERED', 'AMOUNT', TIERS, '5050', '101', '100.6'],
    ['TIERED', 'AMOUNT', TIERS, '0', '0', '0'],
    ['TIERED', 'AMOUNT', TIERS, '-50', '200', '10'],
    ['TIERED', 'NUMBER', CALLS, '1000', '10', '1003'],
    ['TIERED', 'NUMBER', CALLS, '1000', '20', '753'],
    // As many units as events: each event is one unit.
    ['TIERED', 'NUMBER', CALLS, '20', '20', '18'],
    ['TIERED', 'NUMBER', CALLS, '1000', '0', '1003'],
    ['TOP_TIERED', 'AMOUNT', TIERS, '5000', '100', '100'],
    ['TOP_TIERED', 'AMOUNT', TIERS, '5000', '101', '60.1'],
    ['TOP_TIERED', 'NUMBER', CALLS, '8', '11', '4'],
    ['STAIR_STEP', 'NUMBER', STEPS, '5000', '10', '50'],
    ['STAIR_STEP', 'NUMBER', STEPS, '5000', '11', '70'],
    ['STAIR_STEP', 'AMOUNT', STEPS, '0.01', '101', '200'],
  ]
  test.each(cases)('%s of %s %j: %s in %s events costs %s', (type, metric, bands, quantity, count, expected) => {
    expect(cost(priceOf(type, bands, { metric }), volumeOf(metric, quantity, count))).toBe(expected)
  })

  test('other usage still decides, where the price has it', () => {
    const config = priceOf('TOP_TIERED', CALLS)
    const rated = rate(config, numberVolume(decimal('8'), decimal('1')), { position: decimal('11') })
    expect(plain(rated.total.quantity)).toBe('4')
  })

  test('a pool is placed by the events of all its members', () => {
    const config = priceOf('TOP_TIERED', CALLS)
    const [own, other] = [numberVolume(decimal('8'), decimal('6')), numberVolume(decimal('12'), decimal('5'))]
    expect(plain(rateInPool(config, own, [other]).rated.total.quantity)).toBe('4')
  })

  test('each event has its band, and what the bands charge for sums to the whole', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 10_000 }), (count, cents) => {
        const volume = amountVolume(decimalOfInteger(cents).div(decimal('100')), 'EUR', decimalOfInteger(count))
        const { charges } = rate(priceOf('TIERED', TIERS, { metric: 'AMOUNT' }), volume)
        expect(plain(sum(charges.map(charge => charge.events)))).toBe(String(count))
        expect(charges.length).toBe(count > 100 ? 2 : 1)
        const money = sum(charges.map(charge => charge.units)).minus(volume.quantity)
        expect(plain(money.round(30))).toBe('0')
      }),
    )
  })

  test('the curve of one number of events has no steps of its own', () => {
    const bands: BandText[] = [{ ...by('1'), percentage: '3', maximumAmount: '2' }, { percentage: '1' }]
    const config = priceOf('TIERED', bands, { metric: 'AMOUNT' })
    const pieces = priceCurve(config, { end: decimal('500'), money: true, count: decimal('3') }) ?? []
    // A third of the money is in the first band, which charges at most 2: from 200 on.
    const ends = pieces.map(({ to, steps }) => [plain(to.quantity), plain(to.charge.round(12)), steps])
    expect(ends).toEqual([
      ['200', '3.333333333333', false],
      ['500', '5.333333333333', false],
    ])
  })
})

test('the curve of a price by the one band reached bends where the limit of all its events holds', () => {
  const bands: BandText[] = [
    { ...by('7'), amount: '0' },
    { amount: '1.50', percentage: '0.1', maximumAmount: '27.05' },
  ]
  const pieces = priceCurve(priceOf('TOP_TIERED', bands, { metric: 'AMOUNT' }), {
    ...{ end: decimal('80'), money: true, count: decimal('18') },
  })
  // 18 events cost 27; 0.1 % of 50 are the 0.05 that is left up to the maximum.
  expect(pieces?.map(({ to }) => [plain(to.quantity), plain(to.charge.round(12))])).toEqual([
    ['50', '27.05'],
    ['80', '27.05'],
  ])
})

describe('the curve of such a price', () => {
  const text = (highest: number) => fc.integer({ min: 0, max: highest }).map(value => plain(decimal(`${value}e-2`)))
  const limits = { minimumAmount: text(900), maximumAmount: text(9_000), minimumNumber: fc.nat(9).map(String) }
  const band = fc
    .record(
      { amount: text(300), fixedAmount: text(300), percentage: text(500), ...limits },
      { requiredKeys: ['amount'] },
    )
    .filter(({ minimumAmount = '0', maximumAmount = minimumAmount }) => decimal(minimumAmount).lte(maximumAmount))
  const bandsOf = (
    given: readonly BandText[],
    { money, perMoney }: { money: boolean; perMoney: boolean },
  ): BandText[] =>
    given.map(({ percentage, ...rest }, index) => ({
      ...rest,
      ...(money && percentage ? { percentage } : {}),
      ...(money && perMoney ? { blockSize: '7', blockOf: 'MONEY' } : {}),
      ...(index < given.length - 1 ? by(String((index + 1) * 7)) : {}),
    }))

  test('gives what it charges at every quantity, for any number of events', () => {
    const of = fc.record({
      type: fc.constantFrom('TIERED', 'TOP_TIERED'),
      money: fc.boolean(),
      perMoney: fc.boolean(),
      given: fc.array(band, { minLength: 2, maxLength: 4 }),
      count: fc.nat(30).map(decimalOfInteger),
      cents: fc.array(fc.integer({ min: 1, max: 7_999 }), { minLength: 6, maxLength: 12 }),
    })
    fc.assert(
      fc.property(of, ({ type, given, count, cents, ...form }) => {
        const { money } = form
        const config = priceOf(type, bandsOf(given, form), { metric: money ? 'AMOUNT' : 'NUMBER' })
        const pieces = priceCurve(config, { end: decimal('80'), money, count }) ?? []
        for (const quantity of cents.map(each => decimal(`${each}e-2`))) {
          const piece = pieces.find(({ from, to }) => quantity.gt(from.quantity) && quantity.lte(to.quantity))
          if (!piece) throw new Error('the curve covers every quantity above 0')
          const { from, to } = piece
          const part = quantity.minus(from.quantity).div(to.quantity.minus(from.quantity))
          const drawn = from.charge.plus(to.charge.minus(from.charge).times(part))
          const volume = money ? amountVolume(quantity, 'EUR', count) : numberVolume(quantity, count)
          expect(drawn.minus(rate(config, volume).total.quantity).abs().lt('1e-20'), plain(quantity)).toBe(true)
        }
      }),
    )
  })
})

describe('blocks of metered money', () => {
  const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
  test.each([
    ['FLAT', [{ amount: '0.30', blockSize: '100', blockOf: 'MONEY' }], '250', '0.75', '250 ÷ 100 × 0.3 EUR'],
    [
      'FLAT',
      [{ amount: '0.30', percentage: '1', blockSize: '100', blockOf: 'MONEY' }],
      '250',
      '3.25',
      '1 % of 250 EUR + 250 ÷ 100 × 0.3 EUR',
    ],
    ['FLAT', [{ amount: '0.30', blockSize: '4' }], '250', '0.6', '8 events ÷ 4 × 0.3 EUR'],
    ['FLAT_TOP_UP', [{ amount: '5', blockSize: '100', blockOf: 'MONEY' }], '250', '15', '3 blocks of 100 × 5 EUR'],
  ] satisfies [string, BandText[], string, string, string][])(
    '%s %j of %s costs %s',
    (type, bands, money, charge, how) => {
      const config = priceOf(type, bands, { metric: 'AMOUNT' })
      const { total, charges } = rate(config, amountVolume(decimal(money), 'EUR', decimal('8')))
      expect([plain(total.quantity), charges[0] && describeCharge(charges[0], 'EUR')]).toEqual([charge, how])
    },
  )

  test('the curve bends where a limit of such a price begins', () => {
    const bands: BandText[] = [
      { amount: '5', percentage: '5', blockSize: '100', blockOf: 'MONEY', minimumAmount: '20' },
    ]
    const pieces = priceCurve(priceOf('FLAT', bands, { metric: 'AMOUNT' }), { end: decimal('400'), money: true }) ?? []
    expect(pieces.map(({ to }) => [plain(to.quantity), plain(to.charge)])).toEqual([
      ['200', '20'],
      ['400', '40'],
    ])
  })

  test.each([
    ['NUMBER', 'FLAT', [{ amount: eur('1'), block_size: { amount: eur('5') } }], 'bands.0.block_size.amount'],
    ['NUMBER', 'FLAT', [{ amount: eur('1'), block_size: { count: '5' } }], 'bands.0.block_size.count'],
    ['AMOUNT', 'FLAT', [{ amount: eur('1'), block_size: { count: '5', number: '5' } }], 'bands.0.block_size'],
    ['AMOUNT', 'FLAT_TOP_UP', [{ amount: eur('1'), block_size: { count: '5' } }], 'bands.0.block_size.count'],
    [
      'AMOUNT',
      'FLAT',
      [{ amount: eur('1'), block_size: { amount: { quantity: '5', currency: 'USD' } } }],
      'bands.0.block_size.amount.currency',
    ],
    [
      'NUMBER',
      'TIERED',
      [{ amount: eur('1'), tier_top_bound: { count: '5' } }, { amount: eur('1'), tier_top_bound: { number: '9' } }, {}],
      'bands.1.tier_top_bound',
    ],
    [
      'NUMBER',
      'TIERED',
      [{ amount: eur('1'), tier_top_bound: { count: '5' } }, { amount: eur('1'), tier_top_bound: { count: '5' } }, {}],
      'bands.1.tier_top_bound',
    ],
    [
      'NUMBER',
      'TIERED_TOP_UP',
      [{ amount: eur('1'), tier_top_bound: { count: '5' } }, { amount: eur('1') }],
      'bands.0.tier_top_bound.count',
    ],
    [
      'NUMBER',
      'STAIR_STEP_TOP_UP',
      [{ amount: eur('1'), tier_top_bound: { count: '5' } }, { amount: eur('1') }],
      'bands.0.tier_top_bound.count',
    ],
  ] as const)('%s %s %j is refused by %s', (metric, pricing_type, bands, field) => {
    const reading = parsePriceConfig({ pricing_type, bands }, { metric })
    expect(reading.kind === 'fault' && reading.fault.field).toBe(field)
  })

  test('a price of each event has no tier by events', () => {
    const bands = [{ amount: eur('1'), tier_top_bound: { count: '5' } }, { amount: eur('2') }]
    const reading = parsePriceConfig({ pricing_type: 'TIERED', rate_per: 'EVENT', bands }, { metric: 'NUMBER' })
    expect(reading.kind === 'fault' && reading.fault.field).toBe('bands.0.tier_top_bound.count')
  })
})
