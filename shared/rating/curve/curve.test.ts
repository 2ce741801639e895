import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain } from '../../decimal.ts'
import { amountVolume, numberVolume } from '../price.ts'
import { type PriceConfig, rate } from '../rate.ts'
import { type BandText, price, priceOf } from '../testing/prices.ts'
import { type CurvePiece, priceCurve } from './curve.ts'
import { CURVE_PLACES_MAX, curveEnd } from './curve-places.ts'

const shown = (pieces: readonly CurvePiece[] | null): string[] =>
  (pieces ?? []).map(({ from, to, steps, bounds }) => {
    const point = (of: CurvePiece['from']) => `${plain(of.quantity)}=${plain(of.charge)}`
    return `${steps ? 'step ' : ''}${point(from)}..${point(to)}${bounds.length > 0 ? ` ${bounds.join(' ')}` : ''}`
  })
const curve = (config: PriceConfig, end: string) => shown(priceCurve(config, { end: decimal(end), money: false }))

const cases: readonly [type: string, bands: BandText[], end: string, pieces: string[]][] = [
  ['FLAT', [{ amount: '2', fixedAmount: '5' }], '10', ['0=5..10=25']],
  [
    'FLAT',
    [{ amount: '2', minimumAmount: '10', maximumAmount: '30' }],
    '20',
    ['0=10..5=10 MINIMUM_AMOUNT', '5=10..15=30', '15=30..20=30 MAXIMUM_AMOUNT'],
  ],
  [
    'FLAT',
    [{ amount: '2', minimumNumber: '3', maximumNumber: '6' }],
    '10',
    ['0=6..3=6 MINIMUM_NUMBER', '3=6..6=12', '6=12..10=12 MAXIMUM_NUMBER'],
  ],
  [
    'TIERED',
    [
      { topBound: '10', amount: '1' },
      { amount: '0.5', fixedAmount: '3' },
    ],
    '20',
    ['0=0..10=10', 'step 10=13..20=18'],
  ],
  ['TOP_TIERED', [{ topBound: '10', amount: '1' }, { amount: '0.5' }], '20', ['0=0..10=10', 'step 10=5..20=10']],
  [
    'STAIR_STEP',
    [{ topBound: '10', fixedAmount: '50' }, { fixedAmount: '80' }],
    '20',
    ['0=50..10=50', 'step 10=80..20=80'],
  ],
  [
    'FLAT_TOP_UP',
    [{ amount: '10', blockSize: '5' }],
    '15',
    ['step 0=10..5=10', 'step 5=20..10=20', 'step 10=30..15=30'],
  ],
  ['FIXED', [{ fixedAmount: '7' }], '15', ['0=7..15=7']],
]
test.each(cases)('%s %o to %s', (type, bands, end, pieces) => {
  expect(curve(price(type, ...bands), end)).toEqual(pieces)
})

test('a price of a million blocks is not drawn', () => {
  const config = price('FLAT_TOP_UP', { amount: '1' })
  expect(priceCurve(config, { end: decimal(String(CURVE_PLACES_MAX + 1)), money: false })).toBeNull()
  expect(priceCurve(config, { end: curveEnd(config), money: false })).toHaveLength(10)
})

test('no price has too many steps up to its default end', () => {
  const far = { topBound: '1000000' }
  const of = (type: string, ...bands: BandText[]): [string, number | undefined] => {
    const config = price(type, ...bands)
    return [plain(curveEnd(config)), priceCurve(config, { end: curveEnd(config), money: false })?.length]
  }
  expect(of('TIERED_TOP_UP', { amount: '2', ...far }, { amount: '1' })).toEqual(['2000', 2000])
  // Blocks count from the last bound on only.
  expect(of('STAIR_STEP_TOP_UP', { fixedAmount: '9', ...far }, { fixedAmount: '1', blockSize: '5000' })).toEqual([
    '1500000',
    101,
  ])
  expect(of('STAIR_STEP_TOP_UP', { fixedAmount: '9', ...far }, { fixedAmount: '1', blockSize: '1' })).toEqual([
    '1002000',
    2001,
  ])
  expect(of('STAIR_STEP_TOP_UP', { fixedAmount: '9', ...far }, { fixedAmount: '1' })).toEqual(['1500000', 2])
})

/** The charge that the curve gives for a quantity. */
function read(pieces: readonly CurvePiece[], quantity: Decimal): Decimal {
  const piece = pieces.find(({ from, to }) => quantity.gt(from.quantity) && quantity.lte(to.quantity))
  if (!piece) throw new Error('the curve covers every quantity above 0')
  const { from, to } = piece
  const part = quantity.minus(from.quantity).div(to.quantity.minus(from.quantity))
  return from.charge.plus(to.charge.minus(from.charge).times(part))
}

describe('the curve gives what the price charges at every quantity', () => {
  const text = (highest: number) => fc.integer({ min: 0, max: highest }).map(value => plain(decimal(`${value}e-2`)))
  const limits = fc.record(
    { fixedAmount: text(500), minimumAmount: text(900), minimumNumber: fc.integer({ min: 0, max: 9 }).map(String) },
    { requiredKeys: [] },
  )
  const tops = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 3 }).map(list => list.sort((a, b) => a - b))
  const banded = (type: 'TIERED' | 'TOP_TIERED' | 'STAIR_STEP' | 'TIERED_TOP_UP' | 'STAIR_STEP_TOP_UP') =>
    fc.tuple(tops, fc.array(fc.tuple(text(300), limits), { minLength: 4, maxLength: 4 })).map(([ends, prices]) =>
      price(
        type,
        ...[...ends.map(String), null].map((topBound, index): BandText => {
          const [amount = '1', more = {}] = prices[index] ?? []
          const top = topBound === null ? {} : { topBound }
          if (type === 'STAIR_STEP') return { fixedAmount: amount, ...top }
          // A step may be as wide as the one before it, or of its own width, also of 1.
          const width = more.minimumNumber ? { blockSize: String(Number(more.minimumNumber) + 1) } : {}
          if (type === 'STAIR_STEP_TOP_UP') return { fixedAmount: amount, ...width, ...top }
          return type === 'TIERED_TOP_UP' ? { amount, blockSize: '7', ...top } : { amount, ...more, ...top }
        }),
      ),
    )
  const anyPrice = fc.oneof(
    fc.tuple(text(300), limits).map(([amount, more]) => price('FLAT', { amount, ...more })),
    banded('TIERED'),
    banded('TOP_TIERED'),
    banded('STAIR_STEP'),
    banded('TIERED_TOP_UP'),
    banded('STAIR_STEP_TOP_UP'),
  )
  const quantities = fc.array(fc.integer({ min: 1, max: 8000 }), { minLength: 5, maxLength: 15 })

  test('of numbers', () => {
    fc.assert(
      fc.property(anyPrice, quantities, (config, list) => {
        const pieces = priceCurve(config, { end: decimal('80'), money: false })
        for (const hundredths of list) {
          const quantity = decimal(`${hundredths}e-2`)
          const charge = rate(config, numberVolume(quantity)).total.quantity
          expect(
            read(pieces ?? [], quantity)
              .minus(charge)
              .abs()
              .lt('1e-25'),
            plain(quantity),
          ).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('of money', () => {
    const band = fc.record(
      { percentage: text(900), amount: text(90), minimumAmount: text(900), maximumAmount: text(90_000) },
      { requiredKeys: ['percentage'] },
    )
    fc.assert(
      fc.property(band, fc.nat(5), quantities, (of, events, list) => {
        fc.pre(of.minimumAmount === undefined || of.maximumAmount === undefined)
        const config = priceOf('FLAT', [of], { metric: 'AMOUNT' })
        const count = decimal(String(events))
        const pieces = priceCurve(config, { end: decimal('80'), money: true, count })
        for (const hundredths of list) {
          const quantity = decimal(`${hundredths}e-2`)
          const charge = rate(config, amountVolume(quantity, 'EUR', count)).total.quantity
          expect(
            read(pieces ?? [], quantity)
              .minus(charge)
              .abs()
              .lt('1e-25'),
          ).toBe(true)
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('where tiers of money share the events', () => {
  test('the charge is no line beyond the first tier: it is drawn in eight parts, whose ends are exact', () => {
    const config = priceOf('TIERED', [{ topBound: '10', amount: '1' }, { amount: '5' }], { metric: 'AMOUNT' })
    const pieces = priceCurve(config, { end: decimal('50'), money: true, count: decimal('7') })
    // 7 events: 7 x 10 / q x 1 + 7 x (q - 10) / q x 5.
    const ends = (pieces ?? []).map(({ from, to, steps }) =>
      [from, to].map(at => plain(at.charge)).concat(String(steps)),
    )
    expect([ends[0], ends[1]?.[0], ends.at(-1)?.[1], ends.length]).toEqual([['7', '7', 'false'], '7', '29.4', 9])
    expect(pieces?.[4]?.to.quantity.eq(decimal('30'))).toBe(true)
    expect(ends[4]?.[1]).toBe('25.66666666666666666667')
  })

  test('every end of a piece is what the price charges, whatever its tiers', () => {
    const cents = (from: number) => fc.integer({ min: from, max: 900 }).map(value => plain(decimal(`${value}e-2`)))
    const band = fc.record(
      { amount: cents(1), fixedAmount: cents(0), percentage: cents(0), maximumAmount: cents(300) },
      { requiredKeys: ['amount'] },
    )
    fc.assert(
      fc.property(fc.array(band, { minLength: 2, maxLength: 4 }), fc.integer({ min: 1, max: 20 }), (given, events) => {
        const bands = given.map((each, at) =>
          at < given.length - 1 ? { ...each, topBound: String((at + 1) * 9) } : each,
        )
        const config = priceOf('TIERED', bands, { metric: 'AMOUNT' })
        const count = decimal(String(events))
        const pieces = priceCurve(config, { end: decimal('60'), money: true, count }) ?? []
        const charge = (quantity: Decimal) => rate(config, amountVolume(quantity, 'EUR', count)).total.quantity
        for (const { from, to } of pieces) {
          expect(to.charge.minus(charge(to.quantity)).abs().lt('1e-18')).toBe(true)
          expect(
            from.charge
              .minus(charge(from.quantity.plus('1e-22')))
              .abs()
              .lt('1e-18'),
          ).toBe(true)
        }
      }),
    )
  })
})
