import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import { formatInstant, type Instant, instantOf, parseInstant } from '../time.ts'
import {
  addDays,
  dateParts,
  daysBetween,
  type LocalDate,
  lastDayOfMonth,
  lastLocalDay,
  localDate,
  localDateOf,
  startOfLocalDay,
  type Zone,
  zoneOf,
} from './local-days.ts'

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

describe('zones and days', () => {
  test('where midnight is skipped the day starts at 01:00', () => {
    expect(formatInstant(startOfLocalDay(day('2018-11-04'), zone('America/Sao_Paulo')))).toBe('2018-11-04T03:00:00Z')
  })

  test('a clock set back over midnight does not return to the previous day', () => {
    // St John's clocks were set back from 00:01 to 23:01 on 1 November 2009; 00:00 first occurred at 02:30 UTC.
    expect(localDateOf(at('2009-11-01T02:29:59Z'), zone('America/St_Johns'))).toBe('2009-10-31')
    expect(localDateOf(at('2009-11-01T03:00:00Z'), zone('America/St_Johns'))).toBe('2009-11-01')
  })

  const names: readonly [string, string | null][] = [
    ['Europe/Brussels', 'Europe/Brussels'],
    ['UTC', 'UTC'],
    ['+02:00', '+02:00'],
    ['UTC+2', '+02:00'],
    ['GMT-0330', '-03:30'],
    ['Mars/Olympus', null],
    ['+99:00', null],
    ['2020-01-01T00:00Z[Europe/Paris]', null],
    ['', null],
  ]
  test.each(names)('zone %o is %o', (text, expected) => expect(zoneOf(text)).toBe(expected))

  test('days that do not exist are refused', () => {
    expect(
      ['2026-02-29', '2026-13-01', '2026-00-10', '2026-01-00', '26-1-1', '2026-01-01T00:00'].map(localDate),
    ).toEqual(Array(6).fill(null))
    expect(localDate('2028-02-29')).toBe('2028-02-29')
  })
})

test('counts days and months from the given date', () => {
  expect(addDays(day('2026-01-01'), -1)).toBe('2025-12-31')
  expect(lastDayOfMonth(day('2028-02-03'))).toBe('2028-02-29')
  expect(daysBetween(day('2026-02-11'), day('2026-04-01'))).toBe(49)
  expect(dateParts(day('2026-03-01'))).toEqual({ year: 2026, month: 3, day: 1 })
})

test('days between two dates are those that Temporal counts, in whichever order', () => {
  const anyDate = fc.integer({ min: -30_000, max: 84_000 }).map(days => addDays(day('1970-01-01'), days))
  fc.assert(
    fc.property(anyDate, anyDate, (from, to) => {
      expect(daysBetween(from, to)).toBe(Temporal.PlainDate.from(from).until(to).days)
    }),
  )
})

test('the last local day is the day before an end at midnight, else the day of the end', () => {
  const ends: [string, string][] = [
    ['2026-03-31T22:00:00Z', '2026-03-31'],
    ['2026-04-16T13:00:00Z', '2026-04-16'],
  ]
  for (const [end, expected] of ends) {
    expect(lastLocalDay({ start: at('2026-03-01T00:00:00Z'), end: at(end) }, zone('Europe/Brussels'))).toBe(expected)
  }
})

const DAY_MS = 86_400_000
const anyZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone')).map(zone)
const anyInstant = fc
  .integer({ min: Date.UTC(1990, 0, 1) / 60_000, max: Date.UTC(2060, 0, 1) / 60_000 })
  .map(minutes => instantOf(minutes * 60_000))

test('an instant lies between the start of its local day and the start of the next', () => {
  fc.assert(
    fc.property(anyZone, anyInstant, (in_, instant) => {
      const date = localDateOf(instant, in_)
      expect(startOfLocalDay(date, in_)).toBeLessThanOrEqual(instant)
      expect(startOfLocalDay(addDays(date, 1), in_)).toBeGreaterThan(instant)
      expect(Math.abs(startOfLocalDay(date, in_) - instant)).toBeLessThan(2 * DAY_MS)
    }),
    { numRuns: 300 },
  )
})
