// Which parts of an interval roll-ups answer, of which grain, and which parts the raw rows must.
import { type Interval, instantOf, interval } from '../../../shared/time.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** Intervals in one query; more are joined across the smallest gaps, which only moves time to the finer source. */
const INTERVALS_MAX = 24

/** Starts, in milliseconds, of the hours and of the days that their roll-up does not cover. */
export type StaleBuckets = { readonly hours: readonly number[]; readonly days: readonly number[] }
/** The same, and from when on no roll-up, or none of a day, is looked for, if there is such a time. */
export type NotRolled = StaleBuckets & { readonly from?: number; readonly daysFrom?: number }

export type ReadPlan = {
  /** Read from raw rows: edges that are no whole hour, and hours no roll-up covers. */
  readonly raw: readonly Interval[]
  /** Whole hours, read from roll-ups of hours. */
  readonly hours: readonly Interval[]
  /** Whole days (UTC), read from roll-ups of days. */
  readonly days: readonly Interval[]
}
type Piece = readonly [start: number, end: number]

/** Splits an interval; the parts tile it without gap or overlap. */
export function planRead(within: Interval, stale: NotRolled): ReadPlan {
  const whole: Piece = [within.start, within.end]
  const { from = within.end, daysFrom = within.end } = stale
  const recent: Piece = [floorTo(from, HOUR_MS), ceilTo(within.end, HOUR_MS)]
  const raw = leftOver(whole, HOUR_MS, [...piecesAt(stale.hours, HOUR_MS), ...(from < within.end ? [recent] : [])])
  // A day that is read raw in part, or lies at the edge, is read by its hours.
  const withRaw = raw.map(([start, end]): Piece => [floorTo(start, DAY_MS), ceilTo(end, DAY_MS)])
  const young: Piece[] = daysFrom < within.end ? [[floorTo(daysFrom, DAY_MS), ceilTo(within.end, DAY_MS)]] : []
  const noDays = leftOver(whole, DAY_MS, [...withRaw, ...piecesAt(stale.days, DAY_MS), ...young])
  return {
    raw: raw.map(toInterval),
    hours: noDays.flatMap(([start, end]) => gapsBetween(raw, start, end)).map(toInterval),
    days: gapsBetween(noDays, within.start, within.end).map(toInterval),
  }
}

const floorTo = (at: number, unit: number): number => Math.floor(at / unit) * unit
const ceilTo = (at: number, unit: number): number => Math.ceil(at / unit) * unit
const toInterval = ([start, end]: Piece): Interval => interval(instantOf(start), instantOf(end))
const piecesAt = (starts: readonly number[], length: number): Piece[] => starts.map(at => [at, at + length])

/** What whole units cannot answer: the edges and the pieces named, which are of whole units; at most INTERVALS_MAX. */
function leftOver(within: Piece, unit: number, pieces: readonly Piece[]): Piece[] {
  const first = ceilTo(within[0], unit)
  const last = floorTo(within[1], unit)
  if (first >= last) return [within]
  const inside = pieces.map(([start, end]): Piece => [Math.max(start, first), Math.min(end, last)])
  const all: Piece[] = [[within[0], first], ...inside, [last, within[1]]]
  return joined(
    all.filter(([start, end]) => start < end),
    INTERVALS_MAX,
  )
}

/** The intervals that hold all of these, at most `max`: what lies between two is taken in where it is least. */
export function covering(intervals: readonly Interval[], max = INTERVALS_MAX): Interval[] {
  return joined(
    intervals.map(({ start, end }): Piece => [start, end]),
    max,
  ).map(toInterval)
}

/** Sorted pieces that touch nowhere, at most `max`: the smallest gaps are closed first. */
function joined(pieces: readonly Piece[], max: number): Piece[] {
  const sorted = pieces.toSorted((a, b) => a[0] - b[0])
  const gaps = sorted.slice(1).map((piece, index) => piece[0] - (sorted[index]?.[1] ?? piece[0]))
  const kept = gaps
    .filter(gap => gap > 0)
    .toSorted((a, b) => b - a)
    .slice(0, max - 1)
  const smallestKept = kept.at(-1) ?? Number.POSITIVE_INFINITY
  const result: [number, number][] = []
  let left = kept.length
  for (const [start, end] of sorted) {
    const last = result.at(-1)
    const split = last !== undefined && start - last[1] >= smallestKept && left > 0
    if (split) left -= 1
    if (last === undefined || split) result.push([start, end])
    else last[1] = Math.max(last[1], end)
  }
  return result
}

function gapsBetween(pieces: readonly Piece[], from: number, to: number): Piece[] {
  const gaps: Piece[] = []
  let at = from
  for (const [start, end] of pieces) {
    if (at < Math.min(start, to)) gaps.push([at, Math.min(start, to)])
    at = Math.max(at, end)
  }
  if (at < to) gaps.push([at, to])
  return gaps
}
