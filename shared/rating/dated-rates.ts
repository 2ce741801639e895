// Converts metered money in several currencies to the currency of the price, each event at the rate of its own time.
import { type Decimal, ONE, sum, ZERO } from '../decimal.ts'
import type { Instant } from '../time.ts'

/** From this time until the next rate of the pair, one unit of `base` is `rate` units of `currency`. */
export type DatedRate = {
  readonly base: string
  readonly currency: string
  readonly rate: Decimal
  readonly at: Instant
  readonly source: string
}
export type MoneyAt = { readonly quantity: Decimal; readonly currency: string; readonly at: Instant }
export type Converted = {
  /** In the pricing currency, exact. */
  readonly total: Decimal
  /** For each currency, what was metered and what it was converted to, in the order in which the currencies appear. */
  readonly parts: readonly { readonly currency: string; readonly quantity: Decimal; readonly converted: Decimal }[]
  readonly used: readonly DatedRate[]
}
export type Conversion =
  | { readonly kind: 'ok'; readonly converted: Converted }
  /**
   * No rate exists on or before this time. Activating or calculating a price then fails with a clear error; no rate is
   * guessed.
   */
  | { readonly kind: 'missing'; readonly base: string; readonly currency: string; readonly at: Instant }

/** The latest rate of a pair on or before a time; undefined when there is none. */
export function rateAt(
  rates: readonly DatedRate[],
  base: string,
  currency: string,
  at: Instant,
): DatedRate | undefined {
  return rates
    .filter(rate => rate.base === base && rate.currency === currency && rate.at <= at)
    .reduce<DatedRate | undefined>((best, rate) => (best && best.at >= rate.at ? best : rate), undefined)
}

/** Sums metered money in the pricing currency. Nothing is rounded, and the order of the events does not matter. */
export function convertAll(values: readonly MoneyAt[], currency: string, rates: readonly DatedRate[]): Conversion {
  const used = new Set<DatedRate>()
  const parts = new Map<string, { quantity: Decimal; converted: Decimal }>()
  for (const value of values) {
    const found = value.currency === currency ? null : rateAt(rates, value.currency, currency, value.at)
    if (found === undefined) return { kind: 'missing', base: value.currency, currency, at: value.at }
    if (found) used.add(found)
    const part = parts.get(value.currency) ?? { quantity: ZERO, converted: ZERO }
    parts.set(value.currency, {
      quantity: part.quantity.plus(value.quantity),
      converted: part.converted.plus(value.quantity.times(found?.rate ?? ONE)),
    })
  }
  const list = [...parts].map(([code, part]) => ({ currency: code, ...part }))
  return {
    kind: 'ok',
    converted: { total: sum(list.map(({ converted }) => converted)), parts: list, used: [...used] },
  }
}
