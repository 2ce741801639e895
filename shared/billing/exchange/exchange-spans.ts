// Metered money in another currency than its price is converted at the rates of the time of each event (semantics 1.1).
// Events between two rates share a conversion, so they are added first and converted once. Pure.
import { at, type Instant, type Interval, instantOf, interval } from '../../time.ts'
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
 * Cuts an interval where the conversion of money in one of these currencies changes, or where its rate becomes too old.
 * Within a piece `exchangeAt` gives the same for every instant.
 */
export function exchangePieces(
  rates: readonly ExchangeRate[],
  within: Interval,
  { from, to }: { readonly from: readonly string[]; readonly to: string },
): Interval[] {
  const inside = cutsOf(rates).filter(cut => within.start < cut && cut < within.end)
  const starts = [...new Set([within.start, ...inside])].sort((a, b) => a - b).map(instantOf)
  const conversions = starts.map(when =>
    JSON.stringify(from.map(each => ratesIn(exchangeAt(rates, { from: each, to, when })))),
  )
  const changes = starts.filter((_, place) => place === 0 || conversions[place] !== conversions[place - 1])
  return changes.map((start, place) => interval(start, changes[place + 1] ?? within.end))
}

const ratesIn = ({ exchange, stale }: ExchangeThen) => [exchange?.used ?? null, stale]

/** The time of each rate, and when it becomes too old, if no newer rate of its pair holds by then. */
function cutsOf(rates: readonly ExchangeRate[]): number[] {
  const times = new Map<string, number[]>()
  for (const { base_currency, currency, rate_timestamp } of rates) {
    const pair = `${base_currency} ${currency}`
    times.set(pair, [...(times.get(pair) ?? []), at(rate_timestamp)])
  }
  return [...times.values()].flatMap(own => {
    const inOrder = own.sort((a, b) => a - b)
    return inOrder.flatMap((time, place) => {
      const tooOld = time + RATE_AGE_MAX_MS + 1
      return (inOrder[place + 1] ?? tooOld) < tooOld ? [time] : [time, tooOld]
    })
  })
}
