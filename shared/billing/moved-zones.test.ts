// Days and periods where a time zone is left for another (local-days.ts): no time is in two days or in none, and a day counts as one.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { at, formatInstant, type Instant, instantOf } from '../time.ts'
import { localDateOf, localDays, movedZone, startOfLocalDay, type Zone, type ZoneBefore, zoneOf } from './local-days.ts'
import { addPeriodAt, type BillingPeriod, billingPeriods, type PeriodGrid } from './periods.ts'

const named = (name: string): Zone => zoneOf(name) ?? expect.unreachable(`a zone: ${name}`)
const moved = (from: string, until: string, to: string): Zone =>
  movedZone([{ zone: named(from), until: at(until) }], named(to))
const DAY = 86_400_000

// 1 February begins in Tokyo at 15:00 UTC of the day before, and in Los Angeles at 08:00 UTC.
const WEST = moved('Asia/Tokyo', '2022-01-31T15:00:00Z', 'America/Los_Angeles')
const EAST = moved('America/Los_Angeles', '2022-02-01T08:00:00Z', 'Asia/Tokyo')

test.each([
  [WEST, '2022-01-31T14:59:59Z', '2022-01-31'],
  [WEST, '2022-01-31T15:00:00Z', '2022-02-01'],
  [WEST, '2022-02-01T08:00:00Z', '2022-02-01'],
  [WEST, '2022-02-02T07:59:59Z', '2022-02-01'],
  [WEST, '2022-02-02T08:00:00Z', '2022-02-02'],
  [EAST, '2022-02-01T07:59:59Z', '2022-01-31'],
  [EAST, '2022-02-01T08:00:00Z', '2022-02-01'],
  [EAST, '2022-02-01T14:59:59Z', '2022-02-01'],
  [EAST, '2022-02-01T15:00:00Z', '2022-02-02'],
])('%s at %s is %s', (zone, time, day) => {
  expect(localDateOf(at(time), zone)).toBe(day)
})

test.each([
  ['a month, to the west', WEST, '2022-01-31T15:00:00Z', '2022-03-01T08:00:00Z', 28],
  ['a month, to the east', EAST, '2022-02-01T08:00:00Z', '2022-02-28T15:00:00Z', 28],
  ['the day of the move, 41 hours long', WEST, '2022-01-31T15:00:00Z', '2022-02-02T08:00:00Z', 1],
  ['the day of the move, 7 hours long', EAST, '2022-02-01T08:00:00Z', '2022-02-01T15:00:00Z', 1],
  ['over the move, to the west', WEST, '2022-01-10T15:00:00Z', '2022-02-11T08:00:00Z', 31],
  ['over the move, to the east', EAST, '2022-01-11T08:00:00Z', '2022-02-10T15:00:00Z', 31],
])('%s has its days', (_title, zone, start, end, days) => {
  expect(localDays({ start: at(start), end: at(end) }, zone)).toBe(days)
})

test('a term continues by the clocks of the zone that was taken', () => {
  expect(formatInstant(addPeriodAt(at('2022-01-10T03:00:00Z'), { type: 'MONTH', value: 1 }, WEST))).toBe(
    '2022-02-10T20:00:00Z', // noon
  )
  expect(formatInstant(addPeriodAt(at('2022-01-10T03:00:00Z'), { type: 'DAY', value: 5 }, WEST))).toBe(
    '2022-01-15T03:00:00Z',
  )
})

const anyZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone')).map(named)
const anyLength = fc.constantFrom(
  { type: 'MONTH', value: 1 } as const,
  { type: 'MONTH', value: 3 } as const,
  { type: 'WEEK', value: 1 } as const,
  { type: 'YEAR', value: 1 } as const,
)

test('whatever the zones, periods up to the move stay, later ones follow without a gap, and each has its days', () => {
  fc.assert(
    fc.property(
      fc.array(anyZone, { minLength: 2, maxLength: 4 }),
      anyLength,
      fc.constantFrom('CALENDAR' as const, 'EXACT' as const),
      fc.integer({ min: Date.UTC(2020, 0, 1) / DAY, max: Date.UTC(2025, 0, 1) / DAY }),
      (zones, length, billingTime, day) => {
        const periodsIn = (zone: Zone, start: Instant): BillingPeriod[] => {
          const grid: PeriodGrid = { length, billingTime, zone, anchor: start }
          const periods: BillingPeriod[] = []
          for (const period of billingPeriods(grid, { start, end: null })) {
            if (periods.length === 12) break
            periods.push(period)
          }
          return periods
        }
        const start = instantOf(day * DAY)
        const [first, ...later] = zones as [Zone, ...Zone[]]
        const daysOf = (periods: readonly BillingPeriod[]) => periods.map(each => [each.coveredDays, each.fullDays])
        // By their dates alone, as in a zone whose clocks never change.
        const expected = daysOf(periodsIn(named('UTC'), instantOf(Date.parse(localDateOf(start, first)))))
        let [before, zone, kept] = [[] as ZoneBefore[], first, 0]
        let known = periodsIn(zone, start)
        for (const next of later) {
          kept += 3
          const until = known[kept - 1]?.full.end ?? expect.unreachable('a period')
          before = [...before, { zone, until }]
          zone = next
          const now = periodsIn(movedZone(before, zone), start)
          expect(now.slice(0, kept)).toEqual(known.slice(0, kept))
          expect(now.slice(1).map(({ covered }) => covered.start)).toEqual(
            now.slice(0, -1).map(({ covered }) => covered.end),
          )
          expect(daysOf(now)).toEqual(expected)
          known = now
        }
      },
    ),
    { numRuns: 150 },
  )
})

test('the first moment of a day after a move is never before the move', () => {
  const farther = moved('America/Adak', '2022-02-01T10:00:00Z', 'Pacific/Kiritimati')
  expect(formatInstant(startOfLocalDay('2022-02-01' as never, farther))).toBe('2022-02-01T10:00:00Z')
  expect(formatInstant(startOfLocalDay('2022-02-02' as never, farther))).toBe('2022-02-01T10:00:00Z')
  expect(localDateOf(at('2022-02-01T10:00:00Z'), farther)).toBe('2022-02-02')
})
