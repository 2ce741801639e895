// Time zones and local days: with billing periods the only place that does arithmetic with either. A day of 23 or 25 hours
// is one day (semantics 0.3).
import { Temporal } from 'temporal-polyfill'
import { type Instant, type Interval, instantOf } from '../time.ts'
import { CACHE_MAX, memoized } from './memoized.ts'

declare const zoneBrand: unique symbol
declare const dateBrand: unique symbol
/** A time zone that Temporal supports; made only by `zoneOf`. */
export type Zone = string & { readonly [zoneBrand]: true }
/** A calendar day, `2026-01-31`; compares correctly as a string. Made only here. */
export type LocalDate = string & { readonly [dateBrand]: true }

const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/
const ZONE_OFFSET = /^(?:UTC|GMT)?([+-])([0-9]{1,2})(?::?([0-9]{2}))?$/

/** A zone from an IANA name or an offset (`Europe/Brussels`, `EST`, `+02:00`, `UTC+2`), or null when there is none. */
export function zoneOf(text: string): Zone | null {
  const known = zones.get(text)
  if (known !== undefined) return known
  const zone = findZone(text)
  if (zone !== null && zones.size < CACHE_MAX) zones.set(text, zone)
  return zone
}

/** The zones that were used so far: validating a zone takes longer than using it. */
const zones = new Map<string, Zone>()

function findZone(text: string): Zone | null {
  const offset = ZONE_OFFSET.exec(text)
  const name = offset ? `${offset[1]}${offset[2]?.padStart(2, '0')}:${offset[3] ?? '00'}` : text
  if (!offset && !ZONE_NAME.test(text)) return null
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return name as Zone
  } catch (error) {
    if (error instanceof RangeError) return null // Temporal throws this for a zone that it does not support
    throw error
  }
}

/** Input is whole milliseconds; the `Zone` is valid by construction. */
export const zoned = (at: Instant, zone: Zone): Temporal.ZonedDateTime => {
  const move = lastMoveAt(at, zone)
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(move ? move.zone : firstOf(zone))
}

/** A local time as an instant. */
export function instantIn(time: Temporal.PlainDateTime, zone: Zone): Instant {
  const move = lastMoveBefore(time.toPlainDate(), zone)
  const { epochMilliseconds } = time.toZonedDateTime(move ? move.zone : firstOf(zone))
  return instantOf(move ? Math.max(epochMilliseconds, move.at) : epochMilliseconds)
}

/** The day to reckon with. */
export const plainDate = memoized(
  (date: LocalDate): Temporal.PlainDate => Temporal.PlainDate.from(date),
  date => date,
)
/** The day as it is passed around. */
export const dateText = (date: Temporal.PlainDate): LocalDate => date.toString() as LocalDate

const midnight = (date: Temporal.PlainDate, zone: Zone): Instant =>
  instantOf(date.toZonedDateTime({ timeZone: zone }).epochMilliseconds)

/** The first instant of a local day. */
export function startOfDay(date: Temporal.PlainDate, zone: Zone): Instant {
  const move = lastMoveBefore(date, zone)
  return move ? instantOf(Math.max(move.at, midnight(date, move.zone))) : midnight(date, firstOf(zone))
}

/** The local day of `at`: the last day that has started. Clocks set back over midnight never make it an earlier day. */
export const dayAt = memoized(
  (at: Instant, zone: Zone): Temporal.PlainDate => {
    const move = lastMoveAt(at, zone)
    const date = zoned(at, zone).toPlainDate()
    if (move && Temporal.PlainDate.compare(date, move.day) < 0) return move.day
    const next = date.add({ days: 1 })
    return startOfDay(next, zone) <= at ? next : date
  },
  (at, zone) => `${at} ${zone}`,
)

/** A local day with its first instant. */
export function dayStart(date: Temporal.PlainDate, zone: Zone): DayStart {
  const start = startOfDay(date, zone)
  const move = lastMoveBefore(date, zone)
  return { date, start, counted: move ? instantOf(midnight(date, move.zone) + move.shift) : start }
}

/** The local day of `at`, with its first instant. */
export const dayStartAt = memoized(
  (at: Instant, zone: Zone): DayStart => dayStart(dayAt(at, zone), zone),
  (at, zone) => `${at} ${zone}`,
)

/** A zone that was left, and when. */
export type ZoneBefore = { readonly zone: Zone; readonly until: Instant }
/** When a zone was taken, on which day, and what the starts of its days are moved by, so that none between is counted more or less. */
type Move = { readonly zone: Zone; readonly at: Instant; readonly day: Temporal.PlainDate; readonly shift: number }
type Moves = { readonly first: Zone; readonly later: readonly Move[] }

/**
 * One zone after others: days up to the one that had begun when a zone was left are those of that zone, and later ones those of the next,
 * so that no time is in two days or in none. The day of the move is longer or shorter, and counts as one.
 */
export const movedZone = (before: readonly ZoneBefore[], zone: Zone): Zone =>
  [...before.map(({ zone: left, until }) => `${left} ${until} `), zone].join('') as Zone

const isMoved = (zone: Zone): boolean => zone.includes(' ')

const movesOf = memoized(
  (zone: Zone): Moves => {
    const [first = '', ...rest] = zone.split(' ')
    const later: Move[] = []
    for (let place = 0; place < rest.length; place += 2) {
      const taken = rest[place + 1] as Zone
      const at = instantOf(Number(rest[place]))
      const before = [first, ...rest.slice(0, place)].join(' ') as Zone
      const { date: day, counted } = dayStartAt(at, before)
      later.push({ zone: taken, at, day, shift: counted - midnight(day, taken) })
    }
    return { first: first as Zone, later }
  },
  zone => zone,
)

const firstOf = (zone: Zone): Zone => (isMoved(zone) ? movesOf(zone).first : zone)

/** The last move up to an instant; undefined where there was none. */
const lastMoveAt = (at: Instant, zone: Zone): Move | undefined =>
  isMoved(zone) ? movesOf(zone).later.findLast(move => move.at <= at) : undefined

/** The last move on a day before this one; undefined where there was none. */
const lastMoveBefore = (date: Temporal.PlainDate, zone: Zone): Move | undefined =>
  isMoved(zone) ? movesOf(zone).later.findLast(({ day }) => Temporal.PlainDate.compare(day, date) < 0) : undefined

/** Days of these very dates since 1970: to count from one to the other otherwise costs as much as pricing a line. */
const dayNumbers = new WeakMap<Temporal.PlainDate, number>()
const DAY_MS = 86_400_000

function dayNumber(date: Temporal.PlainDate): number {
  const known = dayNumbers.get(date)
  if (known !== undefined) return known
  const { year, month, day } = date
  const number = Date.UTC(year, month - 1, day) / DAY_MS
  dayNumbers.set(date, number)
  return number
}

/** How many days `to` is after `from`. */
export const daysFrom = (from: Temporal.PlainDate, to: Temporal.PlainDate): number => dayNumber(to) - dayNumber(from)

/** A local day, its first instant, and the one by which days are counted, which differs only after a zone was left. */
export type DayStart = { readonly date: Temporal.PlainDate; readonly start: Instant; readonly counted: Instant }

/**
 * How many days of a zone lie between the starts of two: one that it skipped, as Pacific/Apia skipped 30 December 2011 when it crossed
 * the date line, is none. No other change of clocks comes near to half a day.
 */
export const daysUpTo = (from: DayStart, to: DayStart): number =>
  Math.min(daysFrom(from.date, to.date), Math.round((to.counted - from.counted) / DAY_MS))

const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/

/** A calendar day from `YYYY-MM-DD`, or null when there is no such day. */
export function localDate(text: string): LocalDate | null {
  if (!DATE.test(text)) return null
  const [year, month, dayOfMonth] = text.split('-').map(Number)
  if (!month || month > 12 || !dayOfMonth) return null
  const date = Temporal.PlainDate.from({ year: year ?? 0, month, day: dayOfMonth })
  return date.day === dayOfMonth ? dateText(date) : null
}

export const localDateOf = memoized(
  (at: Instant, zone: Zone): LocalDate => dateText(dayAt(at, zone)),
  (at, zone) => `${at} ${zone}`,
)

/** The first instant of a local day (01:00 where midnight is skipped). */
export const startOfLocalDay = memoized(
  (date: LocalDate, zone: Zone): Instant => startOfDay(plainDate(date), zone),
  (date, zone) => `${date} ${zone}`,
)

/** Milliseconds since the local clock last showed a whole hour. */
export function sinceLocalHour(at: Instant, zone: Zone): number {
  const { minute, second, millisecond } = zoned(at, zone)
  return (minute * 60 + second) * 1_000 + millisecond
}

/**
 * The last local day that an interval touches: the day before `end` when it ends at midnight, otherwise the day of
 * `end`.
 */
export const lastLocalDay = (of: Interval, zone: Zone): LocalDate => localDateOf(instantOf(of.end - 1), zone)

/** Days from `from` up to `to`, without `to`. */
export const daysBetween = (from: LocalDate, to: LocalDate): number => daysFrom(plainDate(from), plainDate(to))

/**
 * Local days of an interval: the day it starts on counts as a whole day, the day it ends on does not count (semantics
 * 4.4).
 */
export const localDays = (of: Interval, zone: Zone): number =>
  daysUpTo(dayStartAt(of.start, zone), dayStartAt(of.end, zone))

export const dateParts = (date: LocalDate): { year: number; month: number; day: number } => {
  const plain = plainDate(date)
  return { year: plain.year, month: plain.month, day: plain.day }
}

export const addDays = (date: LocalDate, days: number): LocalDate => dateText(plainDate(date).add({ days }))

export const lastDayOfMonth = memoized(
  (date: LocalDate): LocalDate => {
    const plain = plainDate(date)
    return dateText(plain.with({ day: plain.daysInMonth }))
  },
  date => date,
)
