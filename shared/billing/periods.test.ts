import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatInstant, type Instant, type Interval, instantOf, parseInstant } from '../time.ts'
import { type LocalDate, localDate, localDateOf, localDays, startOfLocalDay, type Zone, zoneOf } from './local-days.ts'
import {
  addPeriod,
  addPeriodAt,
  type BillingPeriod,
  type BillingTime,
  billingPeriodAt,
  billingPeriods,
  isWithin,
  PERIOD_TYPES,
  type PeriodGrid,
  type PeriodLength,
  type Span,
} from './periods.ts'

const zone = (name: string): Zone => {
  const known = zoneOf(name)
  if (!known) throw new Error(`no zone ${name}`)
  return known
}
const at = (text: string): Instant => {
  const parsed = parseInstant(text)
  if (parsed === null) throw new Error(`no instant ${text}`)
  return parsed
}
const day = (text: string): LocalDate => {
  const date = localDate(text)
  if (!date) throw new Error(`no day ${text}`)
  return date
}
const UTC = zone('UTC')
const BRUSSELS = zone('Europe/Brussels')
const months = (value: number): PeriodLength => ({ type: 'MONTH', value })
const grid = (billingTime: BillingTime, length: PeriodLength, anchor: string, in_: Zone = UTC): PeriodGrid => ({
  billingTime,
  length,
  anchor: at(anchor),
  zone: in_,
})
const take = (count: number, of: PeriodGrid, span: Span): BillingPeriod[] => {
  const periods: BillingPeriod[] = []
  for (const period of billingPeriods(of, span)) {
    if (periods.length === count) break
    periods.push(period)
  }
  return periods
}
const from = (start: string, end: string | null = null): Span => ({ start: at(start), end: end ? at(end) : null })
const dates = (periods: readonly BillingPeriod[], in_: Zone): string[] =>
  periods.map(({ covered }) => `${localDateOf(covered.start, in_)}..${localDateOf(covered.end, in_)}`)

describe('calendar periods', () => {
  test('scenario A: from 11 March 21 of 31 days, then April whole; a cancel on 16 April leaves 15 days', () => {
    const periods = take(
      9,
      grid('CALENDAR', months(1), '2026-03-11T00:00:00Z'),
      from('2026-03-11T00:00:00Z', '2026-04-16T00:00:00Z'),
    )
    expect(dates(periods, UTC)).toEqual(['2026-03-11..2026-04-01', '2026-04-01..2026-04-16'])
    expect(periods.map(({ index, coveredDays, fullDays }) => [index, coveredDays, fullDays])).toEqual([
      [0, 21, 31],
      [1, 15, 30],
    ])
  })

  test('scenario C: the quarter of 11 February covers 49 of 90 days, the next starts on 1 April', () => {
    const periods = take(2, grid('CALENDAR', months(3), '2026-02-11T00:00:00Z'), from('2026-02-11T00:00:00Z'))
    expect(dates(periods, UTC)).toEqual(['2026-02-11..2026-04-01', '2026-04-01..2026-07-01'])
    expect([periods[0]?.coveredDays, periods[0]?.fullDays]).toEqual([49, 90])
    expect(formatInstant(periods[0]?.full.start ?? instantOf(0))).toBe('2026-01-01T00:00:00Z')
  })

  const aligned: readonly [PeriodLength, string, string][] = [
    [months(6), '2026-02-11', '2026-07-01'],
    [{ type: 'YEAR', value: 1 }, '2026-02-11', '2027-01-01'],
    [{ type: 'WEEK', value: 1 }, '2026-02-11', '2026-02-16'],
    [{ type: 'WEEK', value: 2 }, '2026-02-11', '2026-02-23'],
    [{ type: 'DAY', value: 1 }, '2026-02-11', '2026-02-12'],
    [{ type: 'DAY', value: 30 }, '2026-02-11', '2026-03-13'],
    [months(5), '2026-02-11', '2026-04-01'], // 315 = 63 × 5 months after January 2000
  ]
  test.each(aligned)('%o from %s is first cut on %s', (length, start, cut) => {
    const [first] = take(1, grid('CALENDAR', length, `${start}T00:00:00Z`), from(`${start}T00:00:00Z`))
    expect(first && localDateOf(first.covered.end, UTC)).toBe(cut)
  })
})

test('a monthly price on a quarterly invoice is rated in three months, of the anniversary or of the calendar', () => {
  const start = from('2026-01-31T00:00:00Z')
  const cuts = (billingTime: BillingTime): string[][] =>
    take(2, grid(billingTime, months(3), '2026-01-31T00:00:00Z'), start).map(quarter =>
      dates([...billingPeriods(grid(billingTime, months(1), '2026-01-31T00:00:00Z'), quarter.covered)], UTC),
    )
  expect(cuts('EXACT')).toEqual([
    ['2026-01-31..2026-02-28', '2026-02-28..2026-03-31', '2026-03-31..2026-04-30'],
    ['2026-04-30..2026-05-31', '2026-05-31..2026-06-30', '2026-06-30..2026-07-31'],
  ])
  expect(cuts('CALENDAR')).toEqual([
    ['2026-01-31..2026-02-01', '2026-02-01..2026-03-01', '2026-03-01..2026-04-01'],
    ['2026-04-01..2026-05-01', '2026-05-01..2026-06-01', '2026-06-01..2026-07-01'],
  ])
})

describe('exact periods', () => {
  test('scenario B: an anchor of 31 January never drifts, and every period is whole', () => {
    const periods = take(14, grid('EXACT', months(1), '2026-01-31T00:00:00Z'), from('2026-01-31T00:00:00Z'))
    expect(periods.slice(0, 4).map(({ full }) => formatInstant(full.end).slice(0, 10))).toEqual([
      '2026-02-28',
      '2026-03-31',
      '2026-04-30',
      '2026-05-31',
    ])
    expect(periods.every(({ coveredDays, fullDays }) => coveredDays === fullDays)).toBe(true)
    expect(periods.map(({ index }) => index)).toEqual([...Array(14).keys()])
  })

  test('a leap day returns after four years', () => {
    const periods = take(
      4,
      grid('EXACT', { type: 'YEAR', value: 1 }, '2024-02-29T00:00:00Z'),
      from('2024-02-29T00:00:00Z'),
    )
    expect(periods.map(({ full }) => formatInstant(full.end).slice(0, 10))).toEqual([
      '2025-02-28',
      '2026-02-28',
      '2027-02-28',
      '2028-02-29',
    ])
  })

  test('a later schedule keeps the anchor of its subscription', () => {
    const periods = take(2, grid('EXACT', months(1), '2026-01-15T00:00:00Z'), from('2026-03-20T00:00:00Z'))
    expect(dates(periods, UTC)).toEqual(['2026-03-20..2026-04-15', '2026-04-15..2026-05-15'])
    expect([periods[0]?.coveredDays, periods[0]?.fullDays]).toEqual([26, 31])
  })

  test('a start within a day counts that day whole and is covered from its own instant', () => {
    const [first] = take(1, grid('EXACT', months(1), '2026-03-11T09:30:00Z', BRUSSELS), from('2026-03-11T09:30:00Z'))
    expect(first && formatInstant(first.covered.start)).toBe('2026-03-11T09:30:00Z')
    expect(first && formatInstant(first.full.start)).toBe('2026-03-10T23:00:00Z')
    expect(first && formatInstant(first.full.end)).toBe('2026-04-10T22:00:00Z')
    expect([first?.coveredDays, first?.fullDays]).toEqual([31, 31])
  })
})

describe('periods in a zone', () => {
  test('a month with a clock change has its calendar days, and its length in hours is not a multiple of 24', () => {
    const [march] = take(1, grid('CALENDAR', months(1), '2026-03-01T12:00:00Z', BRUSSELS), from('2026-02-28T23:00:00Z'))
    expect(march && (march.full.end - march.full.start) / 3_600_000).toBe(31 * 24 - 1)
    expect(march?.fullDays).toBe(31)
  })

  test('a day that a zone skipped has no period', () => {
    const apia = zone('Pacific/Apia')
    const span = { start: startOfLocalDay(day('2011-12-29'), apia), end: startOfLocalDay(day('2012-01-01'), apia) }
    const daily = { billingTime: 'EXACT', length: { type: 'DAY', value: 1 }, anchor: span.start, zone: apia } as const
    expect(dates([...billingPeriods(daily, span)], apia)).toEqual(['2011-12-29..2011-12-31', '2011-12-31..2012-01-01'])
  })

  test('a day that a zone skipped counts neither in a period nor in a part of one', () => {
    const apia = zone('Pacific/Apia')
    const of = (first: string, after: string) => ({
      start: startOfLocalDay(day(first), apia),
      end: startOfLocalDay(day(after), apia),
    })
    const monthly = {
      billingTime: 'CALENDAR',
      length: months(1),
      anchor: at('2011-01-01T11:00:00Z'),
      zone: apia,
    } as const
    const [november, december] = [...billingPeriods(monthly, of('2011-11-01', '2012-01-01'))]
    expect([november?.fullDays, december?.fullDays]).toEqual([30, 30])
    const [part] = [...billingPeriods(monthly, of('2011-12-21', '2012-01-01'))]
    expect([part?.coveredDays, part?.fullDays]).toEqual([10, 30])
    const weekly = { ...monthly, length: { type: 'WEEK', value: 1 } } as const
    const [week] = [...billingPeriods(weekly, of('2011-12-26', '2012-01-02'))]
    expect([week?.coveredDays, week?.fullDays]).toEqual([6, 6])
    expect(localDays(of('2011-12-29', '2011-12-31'), apia)).toBe(1)
  })

  test('adds periods from the given date, at most to the last day of the month', () => {
    expect(addPeriod(day('2026-01-31'), months(1))).toBe('2026-02-28')
    expect(addPeriod(day('2026-01-31'), months(1), 2)).toBe('2026-03-31')
    expect(addPeriod(day('2026-12-28'), { type: 'WEEK', value: 1 })).toBe('2027-01-04')
    expect(addPeriod(day('2024-02-29'), { type: 'YEAR', value: 1 })).toBe('2025-02-28')
    expect(formatInstant(addPeriodAt(at('2026-03-01T11:00:00Z'), months(1), BRUSSELS))).toBe('2026-04-01T10:00:00Z')
    const days = { type: 'DAY', value: 15 } as const
    expect(formatInstant(addPeriodAt(at('2026-03-20T11:00:00Z'), days, BRUSSELS, 2))).toBe('2026-04-19T10:00:00Z')
    expect(formatInstant(addPeriodAt(at('2026-01-31T11:00:00Z'), months(1), BRUSSELS, 2))).toBe('2026-03-31T10:00:00Z')
  })

  test('a length that is not a whole number from 1 is refused', () => {
    for (const value of [0, -1, 1.5, Number.NaN, 10_001])
      expect(() => addPeriod(day('2026-01-01'), months(value))).toThrow(/period/)
    expect(addPeriod(day('2026-01-01'), months(10_000))).toBe('2859-05-01')
  })

  test('a schedule without end stops at the horizon, and a lookup outside its span finds nothing', () => {
    const yearly = grid('EXACT', { type: 'YEAR', value: 1 }, '2026-01-01T00:00:00Z')
    expect([...billingPeriods(yearly, from('2026-01-01T00:00:00Z'))]).toHaveLength(173)
    // 2126 to 2226 has no end that can be written.
    const century = grid('EXACT', { type: 'YEAR', value: 100 }, '2026-01-01T00:00:00Z')
    expect([...billingPeriods(century, from('2026-01-01T00:00:00Z'))]).toHaveLength(1)
    expect([...billingPeriods(century, from('2026-01-01T00:00:00Z', '2199-01-01T00:00:00Z'))]).toHaveLength(2)
    expect(billingPeriodAt(yearly, from('2026-01-01T00:00:00Z'), at('2025-12-31T00:00:00Z'))).toBeNull()
    expect(
      billingPeriodAt(yearly, from('2026-01-01T00:00:00Z', '2026-06-01T00:00:00Z'), at('2026-06-01T00:00:00Z')),
    ).toBeNull()
    // 15 January lies in the period of the first instant, and before it.
    const later = from('2026-01-20T00:00:00Z')
    expect(billingPeriodAt(yearly, later, at('2026-01-15T00:00:00Z'))).toBeNull()
    expect(billingPeriodAt(yearly, later, at('2026-01-20T00:00:00Z'))?.index).toBe(0)
  })

  test.each([
    ['2026-01-19T23:59:59.999Z', false, false],
    ['2026-01-20T00:00:00Z', true, true],
    ['2026-01-31T23:59:59.999Z', true, true],
    ['2026-02-01T00:00:00Z', false, true],
  ])('a span contains its start and not its end: %s', (instant, bounded, open) => {
    expect(isWithin(from('2026-01-20T00:00:00Z', '2026-02-01T00:00:00Z'), at(instant))).toBe(bounded)
    expect(isWithin(from('2026-01-20T00:00:00Z'), at(instant))).toBe(open)
  })
})

const anyZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone')).map(zone)
const anyInstant = fc
  .integer({ min: Date.UTC(1990, 0, 1) / 60_000, max: Date.UTC(2060, 0, 1) / 60_000 })
  .map(minutes => instantOf(minutes * 60_000))
const anyLength = fc.oneof(
  ...PERIOD_TYPES.map(type => fc.integer({ min: 1, max: type === 'DAY' ? 40 : 13 }).map(value => ({ type, value }))),
)
const anyTime = fc.constantFrom<BillingTime>('CALENDAR', 'EXACT')
const anySpan = fc
  .record({ start: anyInstant, minutes: fc.integer({ min: 1, max: 900 * 1440 }) })
  .map(({ start, minutes }): Interval => ({ start, end: instantOf(start + minutes * 60_000) }))

describe('laws, in any zone', () => {
  test('covered periods tile the span, full ones each other, and days add up', () => {
    fc.assert(
      fc.property(anyZone, anySpan, anyLength, anyTime, anyInstant, (in_, span, length, billingTime, anchor) => {
        const periods = [...billingPeriods({ billingTime, length, anchor, zone: in_ }, span)]
        expect(periods[0]?.covered.start).toBe(span.start)
        expect(periods.at(-1)?.covered.end).toBe(span.end)
        let days = 0
        for (const [place, period] of periods.entries()) {
          const before = periods[place - 1]
          if (before) {
            expect(before.covered.end).toBe(period.covered.start)
            expect(before.full.end).toBe(period.full.start)
          }
          const inner = place > 0 && place < periods.length - 1
          if (inner) expect(period.covered).toEqual(period.full)
          expect(period.coveredDays).toBeLessThanOrEqual(period.fullDays)
          days += period.coveredDays
        }
        expect(days).toBe(localDays(span, in_))
      }),
      { numRuns: 150 },
    )
  })

  test('cutting a span in two covers the same days as one span', () => {
    fc.assert(
      fc.property(anyZone, anySpan, fc.double({ min: 0, max: 1, noNaN: true }), (in_, span, where) => {
        const cut = instantOf(span.start + Math.floor((span.end - span.start) * where))
        fc.pre(cut > span.start && cut < span.end)
        const parts = localDays({ start: span.start, end: cut }, in_) + localDays({ start: cut, end: span.end }, in_)
        expect(parts).toBe(localDays(span, in_))
      }),
      { numRuns: 150 },
    )
  })

  test('looking up a period gives the same as iterating', () => {
    fc.assert(
      fc.property(anyZone, anySpan, anyLength, anyTime, anyInstant, (in_, span, length, billingTime, anchor) => {
        const of = { billingTime, length, anchor, zone: in_ }
        for (const period of take(6, of, span)) {
          const later = [...billingPeriods(of, span)].filter(({ covered }) => covered.end > period.covered.end - 1)
          expect([...billingPeriods(of, span, instantOf(period.covered.end - 1))]).toEqual(later)
          expect(billingPeriodAt(of, span, period.covered.start)).toEqual(period)
          expect(billingPeriodAt(of, span, instantOf(period.covered.end - 1))).toEqual(period)
        }
      }),
      { numRuns: 60 },
    )
  })
})
