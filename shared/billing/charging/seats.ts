// PER_SEAT: seats over time, each charged for the days it is assigned (semantics 4.4). Pure.
import { type Decimal, decimalOfInteger, max, ZERO } from '../../decimal.ts'
import { type Instant, type Interval, interval } from '../../time.ts'

/** The number of seats from this time until the next change. */
export type SeatChange = { readonly at: Instant; readonly seats: Decimal }
/** The time for which a number of seats is charged; `before` of them are already paid for, null where none are. */
export type SeatPart = { readonly time: Interval; readonly seats: Decimal; readonly before: Decimal | null }
/** Seats that were billed in advance, from a time on. */
export type PaidSeats = { readonly from: Instant; readonly seats: Decimal }

/**
 * How many of these times overlap at each moment of change, in order of time and each moment once; a time without an
 * end never stops.
 */
export function seatChanges(times: readonly { readonly start: Instant; readonly end: Instant | null }[]): SeatChange[] {
  const steps = new Map<Instant, number>()
  const step = (at: Instant, by: number) => steps.set(at, (steps.get(at) ?? 0) + by)
  for (const { start, end } of times) {
    step(start, 1)
    if (end !== null) step(end, -1)
  }
  let seats = 0
  return [...steps]
    .sort(([a], [b]) => a - b)
    .map(([at, by]) => {
      seats += by
      return { at, seats: decimalOfInteger(seats) }
    })
}

/** Seats that are stated for a time; without an end they stay. */
export type StatedSeats = { readonly start: Instant; readonly end: Instant | null; readonly seats: Decimal }

/** The stated seats at their times, and at all others the seats of `base`. Stated times do not overlap. */
export function withStatedSeats(base: readonly SeatChange[], stated: readonly StatedSeats[]): SeatChange[] {
  const moments = new Set([
    ...base.map(({ at }) => at),
    ...stated.flatMap(({ start, end }) => (end === null ? [start] : [start, end])),
  ])
  const seatsAt = (moment: Instant): Decimal =>
    (
      stated.find(({ start, end }) => start <= moment && (end === null || moment < end)) ??
      base.findLast(({ at }) => at <= moment)
    )?.seats ?? ZERO
  return [...moments].sort((a, b) => a - b).map(at => ({ at, seats: seatsAt(at) }))
}

/** The covered time, cut where the number of seats changes. The changes are in order of time. */
function stretches(changes: readonly SeatChange[], covered: Interval): SeatChange[] {
  const found: SeatChange[] = [{ at: covered.start, seats: ZERO }]
  for (const { at, seats } of changes) {
    if (at >= covered.end) break
    if (at <= covered.start) found[0] = { at: covered.start, seats }
    else if (!found.at(-1)?.seats.eq(seats)) found.push({ at, seats })
  }
  return found
}

/**
 * Seats billed in arrears: each number of seats is charged for its time. 5 seats at 10 from 1 March and 8 from 11 March
 * are 70.32.
 */
export function seatsInArrears(changes: readonly SeatChange[], covered: Interval): SeatPart[] {
  const found = stretches(changes, covered)
  return found.map(({ at, seats }, index) => ({
    time: interval(at, found[index + 1]?.at ?? covered.end),
    seats,
    before: null,
  }))
}

/**
 * Seats billed in advance. The start of a period charges the current number. Each time the number rises above the paid
 * one, the difference is charged for the rest of the period. Fewer seats lower the charge from the next period on.
 */
export function seatsInAdvance(
  changes: readonly SeatChange[],
  covered: Interval,
  paid: readonly PaidSeats[],
): SeatPart[] {
  const parts: SeatPart[] = []
  let billed: Decimal | null = null
  for (const { at, seats } of stretches(changes, covered)) {
    const before: Decimal | null = paid
      .filter(({ from }) => from <= at)
      .reduce<Decimal | null>((most, each) => (most === null ? each.seats : max(most, each.seats)), billed)
    if (before === null || seats.gt(before)) parts.push({ time: interval(at, covered.end), seats, before })
    billed = before === null ? seats : max(before, seats)
  }
  return parts
}
