import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain, roundHalfUp, sum } from '../decimal.ts'
import { type Instant, type Interval, instantOf, parseInstant } from '../time.ts'
import { addFractions, fraction, multiplyFractions, timesFraction, WHOLE } from './fraction.ts'
import { localDateOf, startOfLocalDay, type Zone, zoneOf } from './local-days.ts'
import { type BillingTime, billingPeriods, type PeriodLength } from './periods.ts'
import { periodShare, pricingScale, prorate, shareOf } from './proration.ts'

const at = (text: string): Instant => parseInstant(`${text}T00:00:00Z`) ?? instantOf(Number.NaN)
const between = (start: string, end: string): Interval => ({ start: at(start), end: at(end) })
const UTC = zoneOf('UTC') as Zone
const cents = (value: Decimal): string => roundHalfUp(value, 2).toFixed(2)
const length = (type: PeriodLength['type'], value = 1): PeriodLength => ({ type, value })
const months = (start: string, billingTime: BillingTime = 'CALENDAR') => ({
  length: length('MONTH'),
  billingTime,
  zone: UTC,
  anchor: at(start),
})

describe('worked examples', () => {
  test('A: 100 a month from 11 March owes 67.74', () => {
    const [first] = billingPeriods(months('2026-03-11'), { start: at('2026-03-11'), end: null })
    expect(first && cents(prorate(decimal('100'), periodShare(first)))).toBe('67.74')
  })

  test('C: 300 a quarter from 11 February owes 163.33', () => {
    const grid = { ...months('2026-02-11'), length: length('MONTH', 3) }
    const [first] = billingPeriods(grid, { start: at('2026-02-11'), end: null })
    expect(first && cents(prorate(decimal('300'), periodShare(first)))).toBe('163.33')
  })

  test('seats: 5 at 10 from 1 March, 8 from 11 March owe 70.32', () => {
    const march = between('2026-03-01', '2026-04-01')
    const added = prorate(decimal('30'), shareOf(between('2026-03-11', '2027-01-01'), march, UTC))
    expect(cents(decimal('50').plus(added))).toBe('70.32')
  })

  test('an upgrade on 11 March from 100 to 200 owes -67.74 + 135.48', () => {
    const share = shareOf(between('2026-03-11', '2026-04-01'), between('2026-03-01', '2026-04-01'), UTC)
    expect([cents(prorate(decimal('-100'), share)), cents(prorate(decimal('200'), share))]).toEqual([
      '-67.74',
      '135.48',
    ])
  })

  test('K: 100 credits for a seat from 11 March are 67.741935… credits, kept unrounded', () => {
    const share = shareOf(between('2026-03-11', '2026-04-01'), between('2026-03-01', '2026-04-01'), UTC)
    expect(plain(prorate(decimal('100'), share)).startsWith('67.741935483870967741935483870967')).toBe(true)
  })

  test('a part outside the period owes nothing; a period within one day is owed in full', () => {
    const march = between('2026-03-01', '2026-04-01')
    expect(plain(prorate(decimal('9'), shareOf(between('2026-05-01', '2026-06-01'), march, UTC)))).toBe('0')
    const hour = { start: at('2026-03-01'), end: instantOf(at('2026-03-01') + 3_600_000) }
    expect(plain(prorate(decimal('9'), shareOf(march, hour, UTC)))).toBe('9')
  })
})

describe('a price of one cadence on an invoice of another (3.3, scenario D)', () => {
  const cases: readonly [string, string, PeriodLength, PeriodLength, Interval, string][] = [
    [
      '150 a month on a quarter',
      '150',
      length('MONTH'),
      length('MONTH', 3),
      between('2026-01-01', '2026-04-01'),
      '450.00',
    ],
    [
      '1200 a year on a quarter',
      '1200',
      length('YEAR'),
      length('MONTH', 3),
      between('2026-01-01', '2026-04-01'),
      '300.00',
    ],
    ['1200 a year on a month', '1200', length('YEAR'), length('MONTH'), between('2026-02-01', '2026-03-01'), '100.00'],
    ['10 a week on 31 days', '10', length('WEEK'), length('MONTH'), between('2026-03-01', '2026-04-01'), '44.29'],
    ['1 a day on a week', '1', length('DAY'), length('WEEK'), between('2026-03-02', '2026-03-09'), '7.00'],
    ['7 a week on a day', '7', length('WEEK'), length('DAY'), between('2026-03-02', '2026-03-03'), '1.00'],
    [
      '310 a month on a week of March',
      '310',
      length('MONTH'),
      length('WEEK'),
      between('2026-03-02', '2026-03-09'),
      '70.00',
    ],
    [
      '868 a month on a week of February and March',
      '868',
      length('MONTH'),
      length('WEEK'),
      between('2026-02-23', '2026-03-02'),
      '214.00',
    ],
    ['365 a year on a day', '365', length('YEAR'), length('DAY'), between('2026-03-02', '2026-03-03'), '1.00'],
  ]
  test.each(cases)('%s', (_name, price, pricing, billing, full, expected) => {
    const scale = pricingScale(pricing, billing, full, { ...months('2026-01-01'), length: billing })
    expect(cents(timesFraction(decimal(price), scale))).toBe(expected)
  })

  test('a year of weeks owes exactly the twelve months that contain its days', () => {
    const weekly = { ...months('2024-01-01'), length: length('WEEK') }
    let scale = fraction(0, 1)
    for (const week of billingPeriods(weekly, between('2024-01-01', '2025-01-01'))) {
      const part = pricingScale(length('MONTH'), length('WEEK'), week.covered, weekly)
      scale = addFractions(scale, part)
    }
    expect(plain(timesFraction(decimal('1'), scale))).toBe('12')
  })
})

describe('laws', () => {
  test('the shares of a period sum to the whole, wherever it is cut', () => {
    const zones = ['UTC', 'Europe/Brussels', 'America/Sao_Paulo', 'Asia/Kolkata'].map(name => zoneOf(name) as Zone)
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 20_000 }),
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { maxLength: 4 }),
        fc.integer({ min: 1, max: 10_000_000 }),
        (zone, startDay, cuts, price) => {
          const instant = instantOf(startDay * 86_400_000)
          const grid = { length: length('MONTH'), billingTime: 'CALENDAR', zone, anchor: instant } as const
          const first = startOfLocalDay(localDateOf(instant, zone), zone)
          const [month] = billingPeriods(grid, { start: first, end: null })
          if (!month) throw new Error('no period')
          const span = month.full.end - month.full.start
          const inner = cuts.map(cut => Math.floor(month.full.start + cut * span))
          const points = [...new Set([month.full.start, ...inner, month.full.end])].sort((a, b) => a - b)
          const amount = decimal(String(price)).div('100')
          const parts = points.slice(1).map((end, index) => {
            const part = { start: instantOf(points[index] ?? 0), end: instantOf(end) }
            return prorate(amount, shareOf(part, month.full, zone))
          })
          // Each part keeps 40 places; the days themselves add up exactly.
          expect(roundHalfUp(sum(parts), 30).eq(amount)).toBe(true)
        },
      ),
    )
  })

  test('fractions add and multiply as numbers do', () => {
    const part = fc.record({ n: fc.integer({ min: -999, max: 999 }), d: fc.integer({ min: 1, max: 999 }) })
    fc.assert(
      fc.property(part, part, (a, b) => {
        const [x, y] = [fraction(a.n, a.d), fraction(b.n, b.d)]
        const scaled = decimal(String(a.d * b.d))
        expect(plain(timesFraction(scaled, addFractions(x, y)))).toBe(String(a.n * b.d + b.n * a.d))
        expect(plain(timesFraction(scaled, multiplyFractions(x, y)))).toBe(String(a.n * b.n))
      }),
    )
    expect(() => fraction(1, 0)).toThrow(/denominator/)
    expect(plain(timesFraction(decimal('3'), WHOLE))).toBe('3')
  })
})
