import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Instant, instantOf, interval } from '../time.ts'
import { BUCKETS, bucketsOf } from './buckets.ts'
import { localDateOf, sinceLocalHour, type Zone, zoneOf } from './local-days.ts'

const ZONES = ['UTC', 'Europe/Amsterdam', 'Australia/Lord_Howe', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Apia']
const zone = (name: string): Zone => zoneOf(name) as Zone
const at = (text: string): Instant => instantOf(Date.parse(text))
const HOUR = 3_600_000

test.each([
  // Clocks are set forward on 29 March 2026: a day of 23 hours.
  ['DAY', 'Europe/Amsterdam', '2026-03-28T23:00:00Z', '2026-03-30T22:00:00Z', [23, 24]],
  // And back on 25 October: a day of 25 hours.
  ['DAY', 'Europe/Amsterdam', '2026-10-24T22:00:00Z', '2026-10-26T23:00:00Z', [25, 24]],
  ['DAY', 'Europe/Amsterdam', '2026-03-01T12:00:00Z', '2026-03-02T12:00:00Z', [11, 13]],
  ['MONTH', 'Europe/Amsterdam', '2026-02-28T23:00:00Z', '2026-04-30T22:00:00Z', [31 * 24 - 1, 30 * 24]],
  ['MONTH', 'UTC', '2026-01-31T00:00:00Z', '2026-03-02T00:00:00Z', [24, 28 * 24, 24]],
  ['HOUR', 'Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01T02:00:00Z', [0.5, 1, 0.5]],
  // Lord Howe sets clocks back by half an hour at 15:00 UTC on 4 April 2026: 01:30 occurs twice.
  ['HOUR', 'Australia/Lord_Howe', '2026-04-04T14:00:00Z', '2026-04-04T16:30:00Z', [1.5, 1]],
] as const)('%s in %s from %s to %s', (bucket, name, from, to, hours) => {
  const found = bucketsOf(interval(at(from), at(to)), { bucket, zone: zone(name), max: 100 })
  expect(found?.map(({ start, end }) => (end - start) / HOUR)).toEqual(hours)
})

test('buckets tile the interval, and each is one hour, day or month of the zone', () => {
  const start = fc.integer({ min: Date.UTC(2011, 0), max: Date.UTC(2028, 0) })
  const length = fc.integer({ min: 1, max: 20 * 24 * HOUR })
  fc.assert(
    fc.property(start, length, fc.constantFrom(...ZONES), fc.constantFrom(...BUCKETS), (from, ms, name, bucket) => {
      const within = interval(instantOf(from), instantOf(from + ms))
      const found = bucketsOf(within, { bucket, zone: zone(name), max: 5_000 }) ?? []
      expect(found[0]?.start).toBe(within.start)
      expect(found.at(-1)?.end).toBe(within.end)
      for (const [place, { end }] of found.entries()) {
        const next = found[place + 1]
        if (!next) break
        expect(next.start).toBe(end)
        const [before, after] = [instantOf(end - 1), end].map(instant => localDateOf(instant as Instant, zone(name)))
        if (bucket === 'HOUR') expect(sinceLocalHour(end, zone(name))).toBe(0)
        if (bucket === 'DAY') expect(after).not.toBe(before)
        if (bucket === 'MONTH') expect(after?.slice(0, 7)).not.toBe(before?.slice(0, 7))
      }
    }),
    { numRuns: 60 },
  )
})

test('more buckets than the maximum are not computed', () => {
  const year = interval(at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z'))
  expect(bucketsOf(year, { bucket: 'DAY', zone: zone('UTC'), max: 365 })).toHaveLength(365)
  expect(bucketsOf(year, { bucket: 'DAY', zone: zone('UTC'), max: 364 })).toBeNull()
})
