// How many seats there are when, and which of them are not paid for, for the slow model.
import type { Closing, Span } from '../closings.ts'
import type { Known } from '../known.ts'
import type { ChargedPart } from './books.ts'

/** The seats that are not paid for yet, each number with when they come and how many more they are. */
export function rises(
  { known, cutoff }: Closing,
  time: Span,
  charged: readonly ChargedPart[],
): { at: number; seats: number; more: number }[] {
  const found: { at: number; seats: number; more: number }[] = []
  let paid: number | null = null
  for (const { span, seats } of stretches(known, time)) {
    for (const each of charged) if (each.at <= span.start) paid = Math.max(paid ?? 0, each.seats)
    const before: number | null = paid
    paid = Math.max(paid ?? 0, seats)
    if (before !== null && (seats <= before || span.start >= cutoff)) continue
    found.push({ at: span.start, seats, more: seats - (before ?? 0) })
  }
  return found
}

/** A period cut where the number of seats changes. */
export function stretches({ seats }: Known, { start, end }: Span): { span: Span; seats: number }[] {
  const at = (moment: number): number =>
    seats.filter(seat => seat.start <= moment && (seat.end === null || moment < seat.end)).length
  const moments = [...new Set([start, ...seats.flatMap(seat => [seat.start, seat.end ?? start])])]
    .filter(moment => start <= moment && moment < end)
    .toSorted((a, b) => a - b)
    .filter((moment, index, all) => index === 0 || at(moment) !== at(all[index - 1] ?? start))
  return moments.map((moment, index) => ({
    span: { start: moment, end: moments[index + 1] ?? end },
    seats: at(moment),
  }))
}
