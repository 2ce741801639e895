// PER_SEAT: seats over time, each charged for the days it is assigned (semantics 4.4).
import { type Decimal, max, sum, ZERO } from '../../decimal.ts'
import { numberVolume } from '../../rating/price.ts'
import { type PriceConfig, type RatedPrice, rate } from '../../rating/rate.ts'
import { type Instant, type Interval, instantOf, interval } from '../../time.ts'
import { type Fraction, timesFraction } from '../fraction.ts'
import type { Zone } from '../periods.ts'
import { shareOf } from '../proration.ts'

/** The number of seats from this time until the next change. */
export type SeatChange = { readonly at: Instant; readonly seats: Decimal }
/** A time with one number of seats. Its price is the price of the full period, prorated by days. */
export type SeatPart = {
  readonly time: Interval
  readonly seats: Decimal
  readonly share: Fraction
  readonly rated: RatedPrice
  /** Exact. */
  readonly quantity: Decimal
}
/** `covered` is the part of the `full` period in which the price is in force. */
export type SeatPeriod = { readonly covered: Interval; readonly full: Interval; readonly zone: Zone }

/** The number of seats at a time; `byDefault` before the first change. */
export function seatsAt(changes: readonly SeatChange[], byDefault: Decimal, at: Instant): Decimal {
  const last = changes.filter(change => change.at <= at).reduce<SeatChange | null>(later, null)
  return last?.seats ?? byDefault
}
const later = (best: SeatChange | null, change: SeatChange): SeatChange => (best && best.at > change.at ? best : change)

/** The covered time, cut where the number of seats changes. */
function stretches(changes: readonly SeatChange[], { covered }: SeatPeriod): Interval[] {
  const inside = changes.map(({ at }) => at).filter(at => covered.start < at && at < covered.end)
  const starts = [...new Set<Instant>([covered.start, ...inside])].sort((a, b) => a - b)
  return starts.map((start, index) => interval(start, starts[index + 1] ?? covered.end))
}

/**
 * Seats billed in arrears: each number of seats costs its price for a full period, prorated by the days it applies. 5
 * seats at 10 from 1 March and 8 from 11 March are 70.32.
 */
export function seatsInArrears(
  config: PriceConfig,
  changes: readonly SeatChange[],
  byDefault: Decimal,
  period: SeatPeriod,
): { readonly parts: readonly SeatPart[]; readonly total: Decimal } {
  const parts = stretches(changes, period).map(time =>
    seatPart(config, seatsAt(changes, byDefault, time.start), time, period),
  )
  return { parts, total: sum(parts.map(({ quantity }) => quantity)) }
}

function seatPart(config: PriceConfig, seats: Decimal, time: Interval, { full, zone }: SeatPeriod): SeatPart {
  const share = shareOf(time, full, zone)
  const rated = rate(config, numberVolume(seats))
  return { time, seats, share, rated, quantity: timesFraction(rated.total.quantity, share) }
}

/**
 * The extra charge when seats rise in a period that was billed in advance, from the day of the rise to the end of the
 * period.
 */
export type SeatIncrease = {
  readonly from: Instant
  readonly seats: Decimal
  readonly before: Decimal
  readonly share: Fraction
  /** Exact. */
  readonly quantity: Decimal
}

/**
 * Seats billed in advance. The start of a period charges the current number. Each time the number rises above the paid
 * one, the next invoice charges the difference for the rest of the period. Fewer seats lower the charge from the next
 * period on.
 */
export function seatsInAdvance(
  config: PriceConfig,
  changes: readonly SeatChange[],
  byDefault: Decimal,
  period: SeatPeriod,
): { readonly advance: SeatPart; readonly increases: readonly SeatIncrease[] } {
  const { covered, full, zone } = period
  const priceOf = (seats: Decimal): Decimal => rate(config, numberVolume(seats)).total.quantity
  let paid = seatsAt(changes, byDefault, covered.start)
  const advance = seatPart(config, paid, covered, period)
  const increases: SeatIncrease[] = []
  for (const { start: from } of stretches(changes, period).slice(1)) {
    const seats = seatsAt(changes, byDefault, from)
    if (seats.lte(paid)) continue
    const share = shareOf(interval(from, instantOf(covered.end)), full, zone)
    const more = max(priceOf(seats).minus(priceOf(paid)), ZERO)
    increases.push({ from, seats, before: paid, share, quantity: timesFraction(more, share) })
    paid = seats
  }
  return { advance, increases }
}
