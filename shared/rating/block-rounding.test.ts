import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { type Decimal, decimal, plain, ZERO } from '../decimal.ts'
import { type BlockRounding, blocksOf, roundedBlocks } from './block-rounding.ts'
import { parseCreditsPrice, rateCredits } from './credits.ts'
import { drawCurve, priceCurve } from './curve/curve.ts'
import { CURVE_PLACES_MAX, curveEnd } from './curve/curve-places.ts'
import { describeCharge } from './describe.ts'
import { type PriceConfigInput, parsePriceConfig } from './parse/parse-price-config.ts'
import { amountVolume, numberVolume, type Volume } from './price.ts'
import { type PriceConfig, rate } from './rate.ts'
import { type BandText, priceOf } from './testing/prices.ts'

const cost = (config: PriceConfig, volume: Volume): string => plain(rate(config, volume).total.quantity)
const money = (quantity: string, count: string): Volume => amountVolume(decimal(quantity), 'EUR', decimal(count))

// By hand: 10 a block of 1,000; 2.50 for each 10 GB; and tiers of blocks of 100 and of 1,000 units.
const THOUSANDS: BandText[] = [{ amount: '10', blockSize: '1000' }]
const KILLBILL: BandText[] = [
  { amount: '10', blockSize: '100', topBound: '1000' },
  { amount: '60', blockSize: '1000', topBound: '5000' },
  { amount: '250', blockSize: '5000' },
]

describe('a part of a block', () => {
  test.each<[string, string, BandText[], string]>([
    ['FLAT', 'NONE', THOUSANDS, '0=0 1=0.01 999=9.99 1000=10 1001=10.01 2500=25 -2500=-25'],
    ['FLAT', 'UP', THOUSANDS, '0=0 0.000000000001=10 1=10 999=10 1000=10 1001=20 2500=30 -2500=-30'],
    ['FLAT', 'DOWN', THOUSANDS, '0=0 1=0 999.999999999999=0 1000=10 1999=10 2500=20 -2500=-20'],
    ['FLAT', 'HALF_UP', THOUSANDS, '0=0 499=0 500=10 1000=10 1499.999999999999=10 1500=20 -1499=-10 -1500=-20'],
    // A third has no finite decimal: twelve decimals are not enough to make a whole of it.
    [
      'FLAT',
      'DOWN',
      [{ amount: '1', blockSize: '0.3' }],
      '0.299999999999=0 0.3=1 0.9=3 99999999999999999999999999=333333333333333333333333330',
    ],
    ['FLAT', 'UP', [{ amount: '1' }], '2=2 2.000000000001=3 99999999999999999999999999=99999999999999999999999999'],
    [
      'FLAT',
      'UP',
      [{ amount: '5', blockSize: '10', fixedAmount: '3', minimumAmount: '20', maximumAmount: '40' }],
      '0=20 31=23 41=28 71=40',
    ],
    ['FLAT', 'UP', [{ amount: '5', blockSize: '10', minimumNumber: '15' }], '0=10 20=10 21=15'],
    ['TIERED', 'UP', KILLBILL, '0=0 1=10 950=100 1000=100 1001=160 2000=160 5000=340 5001=590 10000=590 10001=840'],
    ['TIERED', 'DOWN', KILLBILL, '99=0 100=10 1000=100 1999=100 2000=160 9999=340 10000=590'],
    ['TOP_TIERED', 'UP', KILLBILL, '0=0 950=100 1000=100 1001=120 4500=300 5000=300 5001=500'],
    ['TOP_TIERED', 'DOWN', KILLBILL, '950=90 1000=100 1999=60 5001=250'],
    [
      'TIERED',
      'UP',
      [
        { fixedAmount: '30', topBound: '55' },
        { amount: '4', blockSize: '10' },
      ],
      '0=30 55=30 56=34 65=34 66=38',
    ],
  ])('%s %s', (type, rounding, bands, costs) => {
    const config = priceOf(type, bands, { block_rounding: rounding })
    const found = costs.split(' ').map(each => {
      const [quantity = ''] = each.split('=')
      return `${quantity}=${cost(config, numberVolume(decimal(quantity)))}`
    })
    expect(found.join(' ')).toBe(costs)
  })

  test('of events and of metered money, beside a percentage', () => {
    const events = priceOf('FLAT', [{ percentage: '1', amount: '2', blockSize: '10' }], {
      metric: 'AMOUNT',
      block_rounding: 'UP',
    })
    expect([cost(events, money('300', '1')), cost(events, money('300', '21'))]).toEqual(['5', '9'])
    const parts = priceOf('FLAT', [{ percentage: '1', amount: '0.3', blockSize: '100', blockOf: 'MONEY' }], {
      metric: 'AMOUNT',
      block_rounding: 'UP',
    })
    expect([cost(parts, money('300', '7')), cost(parts, money('300.01', '7'))]).toEqual(['3.9', '4.2001'])
  })

  test('of a price in credits', () => {
    const bands = [{ credits: { quantity: '1.5', credit_type_id: 'ctyp_1' }, block_size: { number: '50' } }]
    const reading = parseCreditsPrice({ pricing_type: 'FLAT', block_rounding: 'UP', bands })
    if (reading.kind === 'fault') throw new Error(reading.fault.message)
    const costs = ['0', '1', '50', '51'].map(used => plain(rateCredits(reading.price, decimal(used)).credits.quantity))
    expect(costs).toEqual(['0', '1.5', '1.5', '3'])
  })

  test('is explained by the blocks that are charged', () => {
    const [charge] = rate(priceOf('FLAT', THOUSANDS, { block_rounding: 'UP' }), numberVolume(decimal('3450'))).charges
    expect(charge && describeCharge(charge, 'EUR')).toBe('4 blocks of 1000 × 10 EUR')
    expect(charge && plain(charge.units)).toBe('3450')
  })
})

const size = fc.integer({ min: 1, max: 9999 }).map(number => decimal(`${number}`).div(decimal('8')))
const units = fc.integer({ min: -99_999, max: 99_999 }).map(number => decimal(`${number}`).div(decimal('16')))

test('any usage lies between the blocks that it is rounded to', () => {
  fc.assert(
    fc.property(units, size, (used, block) => {
      const of = (rounding: Exclude<BlockRounding, 'NONE'>): Decimal => roundedBlocks(used, block, rounding)
      const [up, down, half] = [of('UP'), of('DOWN'), of('HALF_UP')].map(blocks => blocks.times(block).abs()) as [
        Decimal,
        Decimal,
        Decimal,
      ]
      const all = used.abs()
      expect(down.lte(all) && all.lte(up) && up.minus(down).lte(block)).toBe(true)
      expect(up.eq(down)).toBe(all.eq(up))
      expect(half.eq(all.minus(down).times(decimal('2')).gte(block) ? up : down)).toBe(true)
      expect(up.minus(all).lt(block) && all.minus(down).lt(block)).toBe(true)
    }),
  )
})

describe('the curve', () => {
  const points = (config: PriceConfig, end: string) =>
    priceCurve(config, { end: decimal(end), money: false })?.map(
      ({ from, to, steps }) =>
        `${plain(from.quantity)}:${plain(from.charge)} ${plain(to.quantity)}:${plain(to.charge)}${steps ? ' step' : ''}`,
    )

  test('steps at the end of each block, or at its half', () => {
    const of = (rounding: string) =>
      points(priceOf('FLAT', [{ amount: '5', blockSize: '10' }], { block_rounding: rounding }), '25')
    expect(of('UP')).toEqual(['0:5 10:5 step', '10:10 20:10 step', '20:15 25:15 step'])
    expect(of('DOWN')).toEqual(['0:0 10:0', '10:5 20:5 step', '20:10 25:10 step'])
    expect(of('HALF_UP')).toEqual(['0:0 5:0', '5:5 15:5 step', '15:10 25:10 step'])
  })

  test('of tiers has the blocks of each', () => {
    const bands: BandText[] = [
      { amount: '5', blockSize: '10', topBound: '20' },
      { amount: '8', blockSize: '30' },
    ]
    const config = priceOf('TIERED', bands, { block_rounding: 'UP' })
    expect(points(config, '60')).toEqual(['0:5 10:5 step', '10:10 20:10 step', '20:18 50:18 step', '50:26 60:26 step'])
    expect(plain(curveEnd(config))).toBe('300')
  })

  test('equals the charge inside of every piece', () => {
    const block = fc.constantFrom('1', '2.5', '10')
    const band = fc.record({
      amount: fc.constantFrom('-1', '0', '3'),
      blockSize: block,
      fixedAmount: fc.constantFrom('0', '2'),
    })
    const rounding = fc.constantFrom('UP', 'DOWN', 'HALF_UP')
    const type = fc.constantFrom('FLAT', 'TIERED', 'TOP_TIERED')
    fc.assert(
      fc.property(type, rounding, band, band, (pricing, block_rounding, low, high) => {
        const bands = pricing === 'FLAT' ? [high] : [{ ...low, topBound: '20' }, high]
        const config = priceOf(pricing, bands, { block_rounding })
        for (const { from, to } of priceCurve(config, { end: decimal('60'), money: false }) ?? []) {
          for (const part of ['0.25', '0.5', '0.9'].map(decimal)) {
            const at = from.quantity.plus(to.quantity.minus(from.quantity).times(part))
            const on = from.charge.plus(to.charge.minus(from.charge).times(part))
            expect(plain(on)).toBe(cost(config, numberVolume(at)))
          }
        }
      }),
    )
  })

  test('of parts of money beside a percentage bends where a limit begins', () => {
    const bands: BandText[] = [
      { percentage: '10', amount: '5', blockSize: '100', blockOf: 'MONEY', maximumAmount: '27' },
    ]
    const config = priceOf('FLAT', bands, { metric: 'AMOUNT', block_rounding: 'UP' })
    const pieces = priceCurve(config, { end: decimal('300'), money: true, count: decimal('1') }) ?? []
    expect(pieces.map(({ to }) => `${plain(to.quantity)}:${plain(to.charge)}`)).toEqual(['100:15', '170:27', '300:27'])
  })

  test('of blocks of events beside a percentage bends where a limit begins', () => {
    const bands: BandText[] = [{ percentage: '10', amount: '2', blockSize: '10', maximumAmount: '27' }]
    const config = priceOf('FLAT', bands, { metric: 'AMOUNT', block_rounding: 'UP' })
    const pieces = priceCurve(config, { end: decimal('300'), money: true, count: decimal('21') }) ?? []
    expect(pieces.map(({ to }) => `${plain(to.quantity)}:${plain(to.charge)}`)).toEqual(['210:27', '300:27'])
  })

  test.each(['NONE', 'UP', 'DOWN', 'HALF_UP'])('of 200 tiers, %s, takes a few steps for each place', block_rounding => {
    const each = { percentage: '1', amount: '0.1', blockSize: '1', blockOf: 'MONEY' as const }
    const bands = Array.from(
      { length: 200 },
      (_, index): BandText => ({
        ...each,
        minimumAmount: '0.05',
        maximumAmount: '900',
        ...(index < 199 ? { topBound: String(index + 1) } : {}),
      }),
    )
    const config = priceOf('TIERED', bands, { metric: 'AMOUNT', block_rounding })
    const [divide, multiply] = [
      vi.spyOn(Object.getPrototypeOf(ZERO), 'div'),
      vi.spyOn(Object.getPrototypeOf(ZERO), 'times'),
    ]
    const pieces = priceCurve(config, { end: decimal('1700.25'), money: true, count: decimal('7') }) ?? []
    const steps = divide.mock.calls.length + multiply.mock.calls.length
    vi.restoreAllMocks()
    expect(plain(pieces.at(-1)?.to.charge ?? ZERO)).toBe(cost(config, money('1700.25', '7')))
    expect(steps).toBeLessThan(50 * CURVE_PLACES_MAX)
  })

  test('of 200 tiers of events divides digit by digit for no tier, and pauses', () => {
    const bands = Array.from(
      { length: 200 },
      (_, index): BandText => ({
        percentage: '1.3',
        amount: '0.1',
        minimumAmount: '0.05',
        maximumAmount: '900',
        ...(index < 199 ? { topBound: String(index + 1) } : {}),
      }),
    )
    const config = priceOf('TIERED', bands, { metric: 'AMOUNT' })
    const divide = vi.spyOn(Object.getPrototypeOf(ZERO), 'div')
    const multiply = vi.spyOn(Object.getPrototypeOf(ZERO), 'times')
    const drawing = drawCurve(config, { end: decimal('60'), money: true, count: decimal('7') })
    const turns: number[] = []
    let step: ReturnType<typeof drawing.next>
    do {
      step = drawing.next()
      turns.push(multiply.mock.calls.length)
      multiply.mockClear()
    } while (!step.done)
    const divisions = divide.mock.calls.length
    vi.restoreAllMocks()
    expect(plain(step.value?.at(-1)?.to.charge ?? ZERO)).toBe(cost(config, money('60', '7')))
    expect(divisions).toBeLessThan(CURVE_PLACES_MAX)
    expect(Math.max(...turns)).toBeLessThan(20_000)
  })

  test('of 200 tiers of whole blocks divides each bound once', () => {
    const bands = Array.from(
      { length: 200 },
      (_, index): BandText => ({
        amount: '2',
        blockSize: '1',
        ...(index < 199 ? { topBound: String(index + 1) } : {}),
      }),
    )
    const config = priceOf('TIERED_TOP_UP', bands)
    const divide = vi.spyOn(Object.getPrototypeOf(ZERO), 'div')
    const pieces = priceCurve(config, { end: decimal('400'), money: false }) ?? []
    const divisions = divide.mock.calls.length
    vi.restoreAllMocks()
    expect(plain(pieces.at(-1)?.to.charge ?? ZERO)).toBe('800')
    expect(divisions).toBeLessThan(10 * 400)
  })

  test('of more blocks in its tiers than can be told apart is not made', () => {
    const bands = Array.from(
      { length: 4 },
      (_, index): BandText => ({
        amount: '1',
        ...(index < 3 ? { topBound: String(2_000 * (index + 1)) } : {}),
      }),
    )
    const config = priceOf('TIERED', bands, { block_rounding: 'UP' })
    const add = vi.spyOn(Object.getPrototypeOf(ZERO), 'plus')
    expect(priceCurve(config, { end: decimal('8000'), money: false })).toBeNull()
    expect(add.mock.calls.length).toBeLessThan(100)
    vi.restoreAllMocks()
  })

  test('equals the charge of tiers of money inside of every piece', () => {
    const band = fc.record(
      {
        percentage: fc.constantFrom('2.5', '10', '30'),
        amount: fc.constantFrom('-1', '0', '3'),
        blockSize: fc.constantFrom('1', '4', '10'),
        blockOf: fc.constant('MONEY'),
        fixedAmount: fc.constantFrom('0', '2'),
        minimumAmount: fc.constantFrom('1', '6', '11'),
        maximumAmount: fc.constantFrom('12', '17', '45'),
      },
      { requiredKeys: ['percentage', 'amount', 'blockSize', 'blockOf'] },
    )
    const rounding = fc.constantFrom('UP', 'DOWN', 'HALF_UP')
    fc.assert(
      fc.property(fc.constantFrom('TIERED', 'TOP_TIERED'), rounding, band, band, (type, block_rounding, low, high) => {
        const config = priceOf(type, [{ ...low, topBound: '20' }, high], { metric: 'AMOUNT', block_rounding })
        const pieces = priceCurve(config, { end: decimal('60'), money: true, count: decimal('3') }) ?? []
        expect(pieces.length).toBeGreaterThan(0)
        for (const { from, to } of pieces) {
          for (const part of ['0.25', '0.5', '0.9'].map(decimal)) {
            const at = from.quantity.plus(to.quantity.minus(from.quantity).times(part))
            const on = from.charge.plus(to.charge.minus(from.charge).times(part))
            expect(plain(on.minus(rate(config, amountVolume(at, 'EUR', decimal('3'))).total.quantity).round(20))).toBe(
              '0',
            )
          }
        }
      }),
    )
  })
})

describe('is refused', () => {
  const tiers = (first: object, ...more: object[]) => ({ pricing_type: 'TIERED', bands: [first, ...more] })
  const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
  test.each<[string, PriceConfigInput, 'NUMBER' | 'AMOUNT', string]>([
    [
      'where blocks are whole already',
      { pricing_type: 'FLAT_TOP_UP', bands: [{ amount: eur('1') }] },
      'NUMBER',
      'block_rounding',
    ],
    ['of a lump sum', { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('1') }] }, 'NUMBER', 'block_rounding'],
    ['of a percentage alone', { pricing_type: 'FLAT', bands: [{ percentage: '1' }] }, 'AMOUNT', 'block_rounding'],
    [
      'where a block is in two tiers',
      tiers({ amount: eur('1'), tier_top_bound: { number: '25' }, block_size: { number: '10' } }, { amount: eur('1') }),
      'NUMBER',
      'bands.0.tier_top_bound',
    ],
    [
      'of events in tiers of money',
      tiers({ amount: eur('1'), tier_top_bound: { amount: eur('100') } }, { percentage: '1' }),
      'AMOUNT',
      'block_rounding',
    ],
    [
      'of events in tiers of money, where another tier rounds money',
      tiers(
        { amount: eur('1'), block_size: { amount: eur('10') }, tier_top_bound: { amount: eur('100') } },
        { amount: eur('1') },
      ),
      'AMOUNT',
      'block_rounding',
    ],
    [
      'of units in tiers of events',
      tiers({ amount: eur('1'), tier_top_bound: { count: '5' } }, { amount: eur('1') }),
      'NUMBER',
      'block_rounding',
    ],
  ])('%s', (_name, input, metric, field) => {
    expect(parsePriceConfig({ ...input, block_rounding: 'UP' }, { metric })).toMatchObject({ fault: { field } })
    expect(parsePriceConfig({ ...input, block_rounding: 'NONE' }, { metric }).kind).toBe('ok')
  })

  test('not in one tier alone, which takes all events', () => {
    const input = tiers({ amount: eur('1'), block_size: { count: '10' } })
    expect(parsePriceConfig({ ...input, block_rounding: 'UP' }, { metric: 'AMOUNT' }).kind).toBe('ok')
  })

  test.each<[string, PriceConfigInput, 'NUMBER' | 'AMOUNT']>([
    [
      'a tier that has no blocks, whatever its width',
      tiers({ fixed_amount: eur('1'), tier_top_bound: { number: '2.5' } }, { amount: eur('1') }),
      'NUMBER',
    ],
    [
      'tiers whose own width holds whole blocks',
      tiers(
        { amount: eur('1'), block_size: { number: '5' }, tier_top_bound: { number: '5' } },
        { amount: eur('1'), block_size: { number: '10' }, tier_top_bound: { number: '15' } },
        { amount: eur('1') },
      ),
      'NUMBER',
    ],
    [
      'tiers of money of which one has a percentage alone',
      tiers(
        { percentage: '2', tier_top_bound: { amount: eur('100') } },
        { amount: eur('1'), block_size: { amount: eur('10') } },
      ),
      'AMOUNT',
    ],
  ])('not %s', (_name, input, metric) => {
    expect(parsePriceConfig({ ...input, block_rounding: 'UP' }, { metric }).kind).toBe('ok')
  })

  test('by another name', () => {
    const input = { pricing_type: 'FLAT', bands: [{ amount: eur('1') }], block_rounding: 'CEILING' }
    expect(parsePriceConfig(input, { metric: 'NUMBER' })).toMatchObject({ fault: { field: 'block_rounding' } })
  })
})

test('no block covers nothing, nor less than nothing', () => {
  const five = decimal('5')
  expect(['-7', '-0.1', '0', '0.1', '5', '5.1'].map(units => plain(blocksOf(decimal(units), five)))).toEqual([
    '0',
    '0',
    '0',
    '1',
    '1',
    '2',
  ])
})
