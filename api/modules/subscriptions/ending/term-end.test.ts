import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Zone, zoneOf } from '../../../../shared/billing/local-days.ts'
import type { PeriodLength } from '../../../../shared/billing/periods.ts'
import { at, formatInstant, instantOf } from '../../../../shared/time.ts'
import { currentTermEnd, endsCurrentTerm, initialTermEnd, type Terms, termEndClosestTo } from './term-end.ts'

const year: PeriodLength = { type: 'YEAR', value: 1 }
const month: PeriodLength = { type: 'MONTH', value: 1 }
const terms = (initial: PeriodLength | null, renewal: PeriodLength | null = null): Terms => ({
  initial_term: initial,
  renewal_term: renewal,
  auto_renewal: true,
})
const zone = (name: string): Zone => zoneOf(name) as Zone

describe('worked examples', () => {
  test.each<[string, Terms, string, string, string, string | null]>([
    ['without terms', terms(null), '2026-01-15T00:00:00Z', 'UTC', '2026-06-01T00:00:00Z', null],
    ['within the first', terms(year), '2026-01-15T00:00:00Z', 'UTC', '2026-06-01T00:00:00Z', '2027-01-15T00:00:00Z'],
    ['before it starts', terms(year), '2026-01-15T00:00:00Z', 'UTC', '2025-06-01T00:00:00Z', '2027-01-15T00:00:00Z'],
    ['at its end', terms(year), '2026-01-15T00:00:00Z', 'UTC', '2027-01-15T00:00:00Z', '2028-01-15T00:00:00Z'],
    [
      'renewed by a month',
      terms(year, month),
      '2026-01-31T00:00:00Z',
      'UTC',
      '2027-02-10T00:00:00Z',
      '2027-02-28T00:00:00Z',
    ],
    [
      'and never drifts',
      terms(year, month),
      '2026-01-31T00:00:00Z',
      'UTC',
      '2027-03-01T00:00:00Z',
      '2027-03-31T00:00:00Z',
    ],
    [
      'a month from the 31st, over a short one',
      terms(month),
      '2026-01-31T00:00:00Z',
      'UTC',
      '2026-03-01T00:00:00Z',
      '2026-03-31T00:00:00Z',
    ],
    [
      'half a year from the 31st, over a February',
      terms({ type: 'MONTH', value: 6 }),
      '2026-08-31T00:00:00Z',
      'UTC',
      '2027-03-01T00:00:00Z',
      '2027-08-31T00:00:00Z',
    ],
    [
      'a year from a leap day, to the next one',
      terms(year),
      '2024-02-29T00:00:00Z',
      'UTC',
      '2027-06-01T00:00:00Z',
      '2028-02-29T00:00:00Z',
    ],
    [
      'days after a month, from its end',
      terms(month, { type: 'DAY', value: 10 }),
      '2026-01-31T00:00:00Z',
      'UTC',
      '2026-03-01T00:00:00Z',
      '2026-03-10T00:00:00Z',
    ],
    [
      'renewals of more months than one length may have, to the last day',
      terms(month, { type: 'YEAR', value: 900 }),
      '2026-01-31T00:00:00Z',
      'UTC',
      '2026-03-01T00:00:00Z',
      '2199-12-31T00:00:00Z',
    ],
    [
      'within a first one that lasts longer than time is computed',
      terms({ type: 'YEAR', value: 1_000 }),
      '2026-01-31T00:00:00Z',
      'UTC',
      '2026-03-01T00:00:00Z',
      '2199-12-31T00:00:00Z',
    ],
    [
      'in summer time',
      terms({ type: 'MONTH', value: 6 }),
      '2026-01-15T10:00:00Z',
      'Europe/Amsterdam',
      '2026-02-01T00:00:00Z',
      '2026-07-14T22:00:00Z',
    ],
  ])('%s', (_title, given, start, name, now, expected) => {
    const end = currentTermEnd(given, at(start), zone(name), at(now))
    expect(end === null ? null : formatInstant(end)).toBe(expected)
  })
})

test.each([
  ['by the rule of now', '2026-11-30T00:00:00Z', true],
  ['by the rule of versions before', '2026-11-28T00:00:00Z', true],
  ['neither', '2026-11-29T00:00:00Z', false],
  ['the term before', '2026-10-31T00:00:00Z', false],
])('an end of a term of a month from the 31st: %s', (_title, end, expected) => {
  const [start, now] = [at('2026-01-31T00:00:00Z'), at('2026-11-10T00:00:00Z')]
  expect(endsCurrentTerm(terms(month), start, zone('UTC'), now, at(end))).toBe(expected)
})

test.each([
  ['west', 'America/New_York', terms(month), '2026-04-01T00:00:00Z', '2026-04-01T04:00:00Z'],
  ['east', 'Pacific/Kiritimati', terms(month), '2026-04-01T00:00:00Z', '2026-03-31T10:00:00Z'],
  ['nowhere', 'UTC', terms(month), '2026-04-01T00:00:00Z', '2026-04-01T00:00:00Z'],
  ['of days, east', 'Asia/Tokyo', terms({ type: 'DAY', value: 1 }), '2026-04-01T00:00:00Z', '2026-03-31T15:00:00Z'],
  [
    'that last longer than time is computed',
    'Asia/Tokyo',
    terms({ type: 'YEAR', value: 1_000 }),
    '2199-12-31T00:00:00Z',
    '2199-12-31T00:00:00Z',
  ],
])('a term that ended at a midnight of UTC, moved %s', (_title, name, given, end, expected) => {
  const moved = termEndClosestTo(at(end), given, at('2026-01-01T09:00:00Z'), zone(name))
  expect(moved === null ? null : formatInstant(moved)).toBe(expected)
})

test('without terms none is closest', () => {
  expect(termEndClosestTo(at('2026-04-01T00:00:00Z'), terms(null), at('2026-01-01T00:00:00Z'), zone('UTC'))).toBe(null)
})

test('whatever the terms, the end lies ahead, and the moment before it is of the same term', () => {
  const length = fc.record({
    type: fc.constantFrom('DAY' as const, 'WEEK' as const, 'MONTH' as const, 'YEAR' as const),
    value: fc.integer({ min: 1, max: 18 }),
  })
  const hour = fc
    .integer({ min: Date.parse('2025-01-01') / 3_600_000, max: Date.parse('2027-01-01') / 3_600_000 })
    .map(value => instantOf(value * 3_600_000))
  fc.assert(
    fc.property(
      fc.record({
        initial: length,
        renewal: fc.option(length),
        start: hour,
        later: fc.integer({ min: 0, max: 20_000 }),
        name: fc.constantFrom('UTC', 'Europe/Amsterdam', 'America/Santiago', 'Australia/Lord_Howe'),
      }),
      ({ initial, renewal, start, later, name }) => {
        const given = terms(initial, renewal)
        const now = instantOf(start + later * 3_600_000)
        const end = currentTermEnd(given, start, zone(name), now)
        if (end === null) throw new Error('it has terms')
        expect(end).toBeGreaterThan(now)
        expect(currentTermEnd(given, start, zone(name), instantOf(end - 1))).toBe(end)
        expect(termEndClosestTo(end, given, start, zone(name))).toBe(end)
        expect(currentTermEnd(given, start, zone(name), end)).toBeGreaterThan(end)
        expect(end).toBeGreaterThanOrEqual(initialTermEnd(given, start, zone(name)) ?? Number.NaN)
      },
    ),
    { numRuns: 200 },
  )
})
