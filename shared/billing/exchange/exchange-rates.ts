// Conversion between currencies by dated reference rates (semantics 5.6). Pure.
import { decimal } from '../../decimal.ts'
import { at, type Instant } from '../../time.ts'
import { type Fraction, fraction, multiplyFractions } from '../fraction.ts'

/** From `rate_timestamp` on, one unit of `base_currency` is `rate` units of `currency`; `rate` is a decimal. */
export type ExchangeRate = {
  readonly base_currency: string
  readonly currency: string
  readonly rate: string
  readonly rate_timestamp: string
  readonly source: string
}

/** What an amount is multiplied by, exactly, and the rates that it follows from. */
export type Exchange = { readonly factor: Fraction; readonly used: readonly ExchangeRate[] }

/** Reference rates are published every working day, by some authorities every month. An older one must not bill. */
export const RATE_DAYS_MAX = 31

const ONE_UNIT = decimal('1')

/**
 * How to convert from one currency to another with the rates that hold before `until`: the latest rate between the two,
 * in either direction, or else the latest rates of both against one base. Null when there are none: a rate is never
 * guessed.
 */
export function exchangeBefore(
  rates: readonly ExchangeRate[],
  { from, to, until }: { readonly from: string; readonly to: string; readonly until: Instant },
): Exchange | null {
  const latest = (base: string, currency: string): ExchangeRate | null =>
    rates
      .filter(rate => rate.base_currency === base && rate.currency === currency && at(rate.rate_timestamp) < until)
      .reduce<ExchangeRate | null>(
        (best, rate) => (best === null || at(rate.rate_timestamp) > at(best.rate_timestamp) ? rate : best),
        null,
      )
  const [direct, inverse] = [latest(from, to), latest(to, from)]
  if (direct && (!inverse || at(direct.rate_timestamp) >= at(inverse.rate_timestamp))) return exchangeOf([direct], to)
  if (inverse) return exchangeOf([inverse], to)
  for (const base of [...new Set(rates.map(rate => rate.base_currency))].sort()) {
    const [ofFrom, ofTo] = [latest(base, from), latest(base, to)]
    if (ofFrom && ofTo) return exchangeOf([ofFrom, ofTo], to)
  }
  return null
}

/** The same from the rates that were used, as an invoice shows them. */
export function exchangeOf(used: readonly ExchangeRate[], to: string): Exchange {
  // Towards the currency of the invoice a rate is multiplied, and away from that of the price divided.
  const factors = used.map(({ currency, rate }) =>
    currency === to ? fraction(decimal(rate), ONE_UNIT) : fraction(ONE_UNIT, decimal(rate)),
  )
  return { factor: factors.reduce(multiplyFractions, fraction(1, 1)), used }
}
