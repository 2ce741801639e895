// Intervals of time, each with how far the log was counted in it, cut where any of them begins or ends: so one statement can ask
// about all of them, however many there are and however they overlap. Pure.
import type { Interval } from '../../../shared/time.ts'

export type CountedInterval = {
  readonly interval: Interval
  /** By partition; a partition that is not there was at nothing. */
  readonly positions: readonly number[]
  /** Of these customer keys everything counts, whatever its position. */
  readonly newKeys: readonly string[]
}

/** Whole hours in which the same pieces lie. Times are epoch milliseconds. */
export type Segment = {
  readonly start: number
  readonly end: number
  /** By partition: up to there every piece in it was counted, so what is no later changes none of them. */
  readonly least: readonly number[]
}

/** The last mark in a segment that may be a change of a piece of it, of one partition and customer key. */
export type ChangeMark = {
  readonly segment: number
  readonly partition: number
  readonly key: string
  readonly seq: number
}

const HOUR_MS = 3_600_000
const hoursOf = ({ interval: { start, end } }: CountedInterval): readonly [start: number, end: number] => [
  Math.floor(start / HOUR_MS) * HOUR_MS,
  Math.ceil(end / HOUR_MS) * HOUR_MS,
]

/** The segments of these pieces, in order of time; time in which none lies is in none. */
export function segmentsOf(pieces: readonly CountedInterval[]): Segment[] {
  const timed = pieces
    .map(piece => ({ hours: hoursOf(piece), positions: piece.positions }))
    .sort((a, b) => a.hours[0] - b.hours[0])
  const edges = [...new Set(timed.flatMap(({ hours }) => hours))].sort((a, b) => a - b)
  const segments: Segment[] = []
  let open: typeof timed = []
  let next = 0
  for (const [place, start] of edges.entries()) {
    open = open.filter(({ hours }) => hours[1] > start)
    for (let piece = timed[next]; piece !== undefined && piece.hours[0] <= start; piece = timed[next]) {
      open.push(piece)
      next += 1
    }
    const end = edges[place + 1]
    if (end !== undefined && open.length > 0) segments.push({ start, end, least: leastOf(open) })
  }
  return segments
}

function leastOf(open: readonly { readonly positions: readonly number[] }[]): number[] {
  const partitions = Math.max(...open.map(({ positions }) => positions.length))
  return Array.from({ length: partitions }, (_, partition) =>
    open.reduce((least, { positions }) => Math.min(least, positions[partition] ?? 0), Number.POSITIVE_INFINITY),
  )
}

/** For each piece whether any of the marks is a change of it. */
export function changedBy(
  pieces: readonly CountedInterval[],
  segments: readonly Segment[],
  marks: readonly ChangeMark[],
): boolean[] {
  return pieces.map(piece => {
    const [start, end] = hoursOf(piece)
    return marks.some(({ segment, partition, key, seq }) => {
      const within = segments[segment]
      if (!within || within.start < start || within.end > end) return false
      return seq > (piece.positions[partition] ?? 0) || piece.newKeys.includes(key)
    })
  })
}
