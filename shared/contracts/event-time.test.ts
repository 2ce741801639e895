import { describe, expect, test } from 'vitest'
import { whyNoEventTime } from './event-time.ts'

describe('the refusal of a time says what is wrong with it', () => {
  const before = 'before 1970'
  const ahead = '30 minutes ahead of our clock'
  const none = 'does not exist'
  const form = 'Expected an ISO 8601 time with an offset'
  test.each([
    ['1969-12-31T23:59:59Z', before],
    ['1969-12-31T23:59:59.999+00:00', before],
    ['1970-01-01T00:00:00+14:00', before],
    ['0000-01-01T00:00:00Z', before],
    ['2027-01-01T00:00:00Z', ahead],
    ['2199-12-31T23:59:59-14:00', ahead],
    ['9999-01-01T00:00:00Z', ahead],
    ['2026-02-30T00:00:00Z', none],
    ['2026-06-30T23:59:60Z', none],
    ['2026-01-31T24:00:00Z', none],
    ['2026-01-31T10:00:00+15:00', none],
    ['2026-01-31T10:00:00', form],
    ['2026-01-31', form],
    ['2026-01-31 10:00:00Z', form],
    ['yesterday', form],
    ['', form],
    [-1, form],
    [{}, form],
  ])('%j', (value, message) => expect(whyNoEventTime(value)).toContain(message))

  test('before 1970, it says which times are taken', () => {
    expect(whyNoEventTime('1960-01-01T00:00:00Z')).toBe(
      'The timestamp is before 1970. Events are taken from 1970-01-01T00:00:00Z until 30 minutes ahead of our clock.',
    )
  })
})
