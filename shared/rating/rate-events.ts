// A price whose limits hold for each event on its own: "1.4 %, at least 0.25 and at most 5.00 a payment".
import { type Decimal, sum } from '../decimal.ts'
import type { PriceBound, Volume } from './price.ts'
import { type PriceConfig, rate } from './rate.ts'

export type RatedEvents = {
  /** What each event costs by itself, in the order given, and which limit acted on it. */
  readonly events: readonly { readonly quantity: Decimal; readonly priceBound: PriceBound | null }[]
  /** Exact; the order of the events does not matter. */
  readonly total: Decimal
}

/** Rates each event alone: everything the price says, limits and fixed amount too, is an event's. */
export function rateEvents(config: PriceConfig, volumes: readonly Volume[]): RatedEvents {
  const events = volumes.map(volume => {
    const { total, charges } = rate(config, volume)
    return { quantity: total.quantity, priceBound: charges.find(({ priceBound }) => priceBound)?.priceBound ?? null }
  })
  return { events, total: sum(events.map(({ quantity }) => quantity)) }
}
