// The settings of a statement of figures: by how many threads it is read, and when single events are too many to be read.
import { type Bin, binsByPlace, type Piece } from './plan-queries.ts'
import { HOUR_MS } from './read-plan.ts'

/** Conditions stand in the statement, and may list ten thousand values several times over. */
export const SETTINGS = {
  max_query_size: String(128 * 1024 * 1024),
  // ClickHouse compiles an expression it meets for the third time, and then refuses some with LowCardinality in them.
  compile_expressions: '0',
}

/** A statement about more customers than this belongs to a billing run. No request waits for it, and several run at the same time. */
const NAMES_MAX = 100
/** With more events than hours, roll-ups are cheaper. */
const EVENTS_OF_HOUR = 1
/** ClickHouse reads usage_events by 8,192 rows, and so the rows beside those of a name as well. It passes over them with less work. */
const NEIGHBOURS = 4_096
/** What one thread reads in about a second. A customer may have thousands of others below, and a request waits for their usage. */
const ROWS_MAX = 2_000_000

/**
 * Settings for reading the single events of these bins, which are of many names. ClickHouse refuses (`isTooManyRows`) where it would pass
 * over so many events that roll-ups are cheaper.
 */
export function settingsOfMany(bins: readonly Bin[], now: number): Record<string, string> {
  const names = new Set<string>()
  let hours = 0
  for (const { place, bins: own } of binsByPlace(bins)) {
    names.add(place.customerKey)
    const start = own.reduce((least, bin) => Math.min(least, bin.interval.start), now)
    const end = own.reduce((most, bin) => Math.max(most, Math.min(bin.interval.end, now)), start)
    hours += (end - start) / HOUR_MS
  }
  const rows = Math.min(ROWS_MAX, Math.ceil(hours * EVENTS_OF_HOUR) + names.size * NEIGHBOURS)
  return { max_rows_to_read: String(rows), max_threads: names.size > NAMES_MAX ? '1' : '2' }
}

/** More time than this of one name and meter is read from single events by every thread there is. */
const RAW_MS_MAX = 2 * HOUR_MS
/** Combinations of more hours than this are waited for too long when one thread reads them. */
const HOURS_MS_MAX = 3 * HOUR_MS

/** Roll-ups and the edges of a period are read by one thread with a third less work than shared out. */
export function settingsFor(pieces: readonly Piece[], now: number): Record<string, string> {
  if (longest(pieces, 'RAW', now) > RAW_MS_MAX) return SETTINGS
  const isWaitedFor = longest(pieces, 'HOUR', now) > HOURS_MS_MAX && !hasMoreNames(pieces, NAMES_MAX)
  return { ...SETTINGS, max_threads: isWaitedFor ? '2' : '1' }
}

function hasMoreNames(pieces: readonly Piece[], max: number): boolean {
  const names = new Set<string>()
  for (const { place } of pieces) {
    names.add(place.customerKey)
    if (names.size > max) return true
  }
  return false
}

/** The most time of one name and meter that is read from a source; time to come has no events. */
function longest(pieces: readonly Piece[], source: Piece['source'], now: number): number {
  const lengths = new Map<string, number>()
  for (const piece of pieces) {
    if (piece.source !== source) continue
    const { start, end } = piece.interval
    const { key } = piece.place
    lengths.set(key, (lengths.get(key) ?? 0) + Math.max(0, Math.min(end, now) - start))
  }
  return Math.max(0, ...lengths.values())
}
