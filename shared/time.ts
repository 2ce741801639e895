// Instants, half-open intervals and the clock. Zones and month arithmetic live in billing/periods.ts alone.

declare const instant: unique symbol
/** UTC epoch milliseconds. */
export type Instant = number & { readonly [instant]: true }
/** `[start, end)`; made only by `interval()`. */
export type Interval = { readonly start: Instant; readonly end: Instant }
/** The only source of business time: pass it, never call Date.now(). */
export type Clock = { now(): Instant }

export const instantOf = (epochMs: number): Instant => epochMs as Instant

export const systemClock: Clock = { now: () => instantOf(Date.now()) }

/** A half-open interval. Throws unless start < end. */
export function interval(start: Instant, end: Instant): Interval {
  if (!(start < end)) throw new RangeError(`empty interval ${formatInstant(start)} .. ${formatInstant(end)}`)
  return { start, end }
}

export const contains = (within: Interval, at: Instant): boolean => within.start <= at && at < within.end

/** The overlap of two intervals, or null when they do not meet. */
export function intersect(a: Interval, b: Interval): Interval | null {
  const start = Math.max(a.start, b.start)
  const end = Math.min(a.end, b.end)
  return start < end ? interval(instantOf(start), instantOf(end)) : null
}

/** These times without those of `taken`, in order. */
export function without(times: readonly Interval[], taken: readonly Interval[]): Interval[] {
  return taken.reduce<Interval[]>(
    (left, { start, end }) =>
      left.flatMap(time => {
        if (end <= time.start || time.end <= start) return [time]
        return [
          ...(time.start < start ? [interval(time.start, start)] : []),
          ...(end < time.end ? [interval(end, time.end)] : []),
        ]
      }),
    [...times],
  )
}

// Date, time, optional fraction (any length, truncated), and an offset that must be there: Z or ±hh:mm.
const TIMESTAMP =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/

const YEAR_MIN = 1970
const YEAR_MAX = 2199
/** The first and the last instant that can be written and read again. */
export const FIRST_INSTANT = instantOf(Date.UTC(YEAR_MIN, 0))
export const LAST_INSTANT = instantOf(Date.UTC(YEAR_MAX + 1, 0) - 1)

/**
 * An instant (milliseconds, finer digits truncated) from ISO 8601 with an offset, or null when the text is anything
 * else: no offset, a day that does not exist, a leap second, an offset beyond ±14:00, a year outside 1970..2199 there or in UTC.
 */
export function parseInstant(text: string): Instant | null {
  const match = text.length <= 40 ? TIMESTAMP.exec(text) : null
  if (!match) return null
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (year < YEAR_MIN || year > YEAR_MAX || month < 1 || month > 12 || day < 1) return null
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return null
  if (hour > 23 || minute > 59 || second > 59) return null
  const offsetHours = Number(match[9] ?? 0)
  const offsetMinutes = Number(match[10] ?? 0)
  const offset = offsetHours * 60 + offsetMinutes
  if (offsetMinutes > 59 || offset > 14 * 60) return null
  const fraction = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const local = Date.UTC(year, month - 1, day, hour, minute, second, fraction)
  const utc = match[8] === '-' ? local + offset * 60_000 : local - offset * 60_000
  return utc < FIRST_INSTANT || utc > LAST_INSTANT ? null : instantOf(utc)
}

/** A billing run reads and writes the few edges of its periods hundreds of thousands of times. */
const KEPT_MAX = 10_000
const read = new Map<string, Instant>()
const written = new Map<Instant, string>()

/** An instant from a stored time. Throws when it is none: a stored time always is. */
export function at(text: string): Instant {
  const known = read.get(text)
  if (known !== undefined) return known
  const instant = parseInstant(text)
  if (instant === null) throw new Error(`not a time: ${text}`)
  return kept(read, text, instant)
}

/** The wire form: whole seconds in UTC, `2026-01-31T00:00:00Z` (semantics 9.5). */
export const formatInstant = (at: Instant): string =>
  written.get(at) ?? kept(written, at, `${new Date(at).toISOString().slice(0, 19)}Z`)

function kept<Key, Value>(known: Map<Key, Value>, key: Key, value: Value): Value {
  if (known.size >= KEPT_MAX) known.clear()
  known.set(key, value)
  return value
}
