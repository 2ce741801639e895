// A price whose limits apply to each event on its own: "1.4 %, at least 0.25 and at most 5.00 per payment".
import { type Decimal, sum } from '../decimal.ts'
import type { PriceBound, Volume } from './price.ts'
import { type PriceConfig, rate } from './rate.ts'

export type RatedEvents = {
  /** What each event costs on its own, in the order given, and which limit applied. */
  readonly events: readonly { readonly quantity: Decimal; readonly priceBound: PriceBound | null }[]
  /** Exact; independent of the order of the events. */
  readonly total: Decimal
}

/** Rates each event alone: all parts of the price, including limits and fixed amount, apply per event. */
export function rateEvents(config: PriceConfig, volumes: readonly Volume[]): RatedEvents {
  const events = volumes.map(volume => {
    const { total, charges } = rate(config, volume)
    return { quantity: total.quantity, priceBound: charges.find(({ priceBound }) => priceBound)?.priceBound ?? null }
  })
  return { events, total: sum(events.map(({ quantity }) => quantity)) }
}
