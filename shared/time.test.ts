import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contains, formatInstant, instantOf, intersect, interval, parseInstant } from './time.ts'

describe('timestamps', () => {
  test.each([
    ['2026-01-31T00:00:00Z', '2026-01-31T00:00:00Z'],
    ['2026-01-31T00:00:00.999Z', '2026-01-31T00:00:00Z'],
    ['2026-01-31T00:00:00.123456789+02:00', '2026-01-30T22:00:00Z'],
    ['2024-02-29T12:00:00-05:30', '2024-02-29T17:30:00Z'],
    ['2026-01-31T00:00:00+14:00', '2026-01-30T10:00:00Z'],
  ])('%s is %s', (text, expected) => {
    const at = parseInstant(text)
    expect(at === null ? null : formatInstant(at)).toBe(expected)
  })
  test.each([
    '2026-01-31T00:00:00',
    '2026-01-31',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2016-12-31T23:59:60Z',
    '2026-01-31T00:00:00+15:00',
    '2026-01-31T00:00:00+02',
    '0000-01-01T00:00:00Z',
    '9999-01-01T00:00:00Z',
    '1970-01-01T00:00:00+00:01',
    '2199-12-31T23:59:59-00:01',
    '2026-1-31T00:00:00Z',
    '2026-01-31t00:00:00z',
    ' 2026-01-31T00:00:00Z',
    '',
    'now',
  ])('%s is refused', text => {
    expect(parseInstant(text)).toBe(null)
  })
  test('what is formatted reads back to the second', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 7_000_000_000 }), seconds => {
        expect(parseInstant(formatInstant(instantOf(seconds * 1_000)))).toBe(seconds * 1_000)
      }),
    )
  })
})

test('intervals are half open', () => {
  const day = interval(instantOf(0), instantOf(10))
  expect(contains(day, instantOf(0))).toBe(true)
  expect(contains(day, instantOf(10))).toBe(false)
  expect(intersect(day, interval(instantOf(10), instantOf(20)))).toBe(null)
  expect(intersect(day, interval(instantOf(5), instantOf(20)))).toEqual({ start: 5, end: 10 })
  expect(() => interval(instantOf(1), instantOf(1))).toThrow(RangeError)
})
