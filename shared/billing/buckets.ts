// Divides time into the hours, days or months of a zone, for charts of usage. Pure.
import { type Instant, type Interval, instantOf, interval } from '../time.ts'
import { addDays, lastDayOfMonth, localDateOf, sinceLocalHour, startOfLocalDay, type Zone } from './local-days.ts'

export const BUCKETS = ['HOUR', 'DAY', 'MONTH'] as const
export type Bucket = (typeof BUCKETS)[number]

/**
 * The parts of an interval between local hours, midnights or first days of months. They tile it, so the first and the
 * last may be shorter. A day on which clocks change has 23 or 25 hours. Null when there are more than `max`.
 */
export function bucketsOf(within: Interval, of: { bucket: Bucket; zone: Zone; max: number }): Interval[] | null {
  const found: Interval[] = []
  for (let start = within.start; start < within.end; ) {
    if (found.length === of.max) return null
    const end = instantOf(Math.min(cutAfter(start, of), within.end))
    found.push(interval(start, end))
    start = end
  }
  return found
}

/** The first cut after an instant. */
function cutAfter(at: Instant, { bucket, zone }: { bucket: Bucket; zone: Zone }): Instant {
  switch (bucket) {
    case 'HOUR':
      return nextLocalHour(at, zone)
    case 'DAY':
      return startOfLocalDay(addDays(localDateOf(at, zone), 1), zone)
    case 'MONTH':
      return startOfLocalDay(addDays(lastDayOfMonth(localDateOf(at, zone)), 1), zone)
  }
}

const HOUR_MS = 3_600_000

/**
 * When the local clock next shows a whole hour. Where the clock is changed by half an hour, that is up to an hour and a
 * half away.
 */
function nextLocalHour(at: Instant, zone: Zone): Instant {
  let next = instantOf(at + HOUR_MS - sinceLocalHour(at, zone))
  for (let past = sinceLocalHour(next, zone); past !== 0; past = sinceLocalHour(next, zone))
    next = instantOf(next + HOUR_MS - past)
  return next
}
