// Metered money in another currency than its price is converted at the rates of the time of each event (semantics 1.1).
// Events between two rates share a conversion, so they are added first and converted once. Pure.
import { at, type Instant, type Interval, instantOf, interval } from '../time.ts'
import { type Exchange, type ExchangeRate, exchangeBefore, RATE_DAYS_MAX } from './exchange-rates.ts'

const RATE_AGE_MAX_MS = RATE_DAYS_MAX * 86_400_000

/** How to convert money of one instant. */
export type ExchangeThen = {
  /** Null before the first rate: a rate is never guessed. */
  readonly exchange: Exchange | null
  /** The rates of the exchange that were too old then. */
  readonly stale: readonly ExchangeRate[]
}

/** The conversion of an event of this instant: the latest rates at or before it. */
export function exchangeAt(
  rates: readonly ExchangeRate[],
  { from, to, when }: { readonly from: string; readonly to: string; readonly when: Instant },
): ExchangeThen {
  const exchange = exchangeBefore(rates, { from, to, until: instantOf(when + 1) })
  const stale = (exchange?.used ?? []).filter(({ rate_timestamp }) => at(rate_timestamp) < when - RATE_AGE_MAX_MS)
  return { exchange, stale }
}

/**
 * Cuts an interval where a conversion may change: at the time of each rate, and when it becomes too old. Within a piece
 * `exchangeAt` gives the same for every instant.
 */
export function exchangePieces(rates: readonly ExchangeRate[], within: Interval): Interval[] {
  const cuts = rates.flatMap(({ rate_timestamp }) => [at(rate_timestamp), at(rate_timestamp) + RATE_AGE_MAX_MS + 1])
  const inside = cuts.filter(cut => within.start < cut && cut < within.end)
  const bounds = [...new Set([within.start, ...inside, within.end])].sort((a, b) => a - b)
  return bounds.slice(1).map((end, place) => interval(instantOf(bounds[place] ?? within.start), instantOf(end)))
}
