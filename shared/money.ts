// Money: `Amount` is exact, `Money` is an amount rounded to its currency. Only totals, tax and payments speak Money.

import { currencyDecimals } from './codes/iso-codes.ts'
import { type Decimal, decimal, fixed, plain, roundHalfUp, sum, ZERO } from './decimal.ts'

/** An exact amount: a price, a rated line before rounding. */
export type Amount = { readonly quantity: Decimal; readonly currency: string }
declare const rounded: unique symbol
/** An amount rounded to the exponent of its currency; made only by `toMoney` and `allocate`. */
export type Money = Amount & { readonly [rounded]: true }

/** Decimal places of a currency (EUR 2, JPY 0, KWD 3). Throws RangeError for a code that is none of ISO 4217. */
export function currencyExponent(currency: string): number {
  const decimals = currencyDecimals(currency)
  if (decimals === null) throw new RangeError(`${JSON.stringify(currency)} is no currency of ISO 4217`)
  return decimals
}

export const amount = (quantity: Decimal | string, currency: string): Amount => ({
  quantity: typeof quantity === 'string' ? decimal(quantity) : quantity,
  currency,
})

/**
 * A share of a period, such as 6 of 28 days, is cut at the 40th decimal, so half a cent can arrive as 0.00499…9. No price and quantity
 * have as many decimals as this by themselves.
 */
const EXACT_PLACES = 30

/** Rounds half up to the currency's exponent (semantics 0.5). */
export function toMoney({ quantity, currency }: Amount): Money {
  const exact = roundHalfUp(quantity, EXACT_PLACES)
  return { quantity: roundHalfUp(exact, currencyExponent(currency)), currency } as Money
}

/** Adds amounts of one currency. Throws when currencies differ: conversion is never implicit. */
export function addMoney(values: Iterable<Money>, currency: string): Money {
  const list = [...values]
  for (const value of list) {
    if (value.currency !== currency) throw new RangeError(`cannot add ${value.currency} to ${currency}`)
  }
  return { quantity: sum(list.map(value => value.quantity)), currency } as Money
}

const smallestUnit = (places: number): Decimal => decimal(places === 0 ? '1' : `0.${'0'.repeat(places - 1)}1`)

/** Rounds towards minus infinity, so that what is left over is never negative. */
export function roundDown(value: Decimal, places: number): Decimal {
  const towardsZero = value.round(places, 0)
  return towardsZero.gt(value) ? towardsZero.minus(smallestUnit(places)) : towardsZero
}

/**
 * Rounds exact parts, of either sign, so that they sum to `total` exactly: each is rounded down to `places` decimals, of
 * which the total has no more, and the remaining smallest units go to the largest remainders, first part first. Negating
 * the parts and the total negates the result. Throws RangeError without parts.
 */
export function roundParts(exact: readonly Decimal[], total: Decimal, places: number): Decimal[] {
  if (exact.length === 0) throw new RangeError('roundParts needs at least one part')
  if (exact.length === 1) return [total.eq(ZERO) ? ZERO : total]
  const negative = total.lt(ZERO)
  const mirrored = negative ? exact.map(value => value.neg()) : exact
  const target = negative ? total.neg() : total
  const unit = smallestUnit(places)
  const floors = mirrored.map(value => roundDown(value, places))
  const left = BigInt(target.minus(sum(floors)).div(unit).toFixed(0))
  const count = BigInt(exact.length)
  // The parts need not sum to the total (a total rounded on its own): whole rounds of units go to every part alike.
  const everyPart = left / count - (left % count < 0n ? 1n : 0n)
  const extraParts = Number(left - everyPart * count)
  const byRest = mirrored
    .map((value, index) => ({ index, rest: value.minus(floors[index] ?? ZERO) }))
    .sort((a, b) => b.rest.cmp(a.rest) || a.index - b.index)
  const lucky = new Set(byRest.slice(0, extraParts).map(part => part.index))
  return floors.map((floor, index) => {
    const units = everyPart + (lucky.has(index) ? 1n : 0n)
    const part = floor.plus(unit.times(decimal(units.toString())))
    const quantity = negative ? part.neg() : part
    return quantity.eq(ZERO) ? ZERO : quantity
  })
}

/** As `roundParts`, at the exponent of the total's currency. */
export const roundToTotal = (exact: readonly Decimal[], total: Money): Money[] =>
  roundParts(exact, total.quantity, currencyExponent(total.currency)).map(
    quantity => ({ quantity, currency: total.currency }) as Money,
  )

/**
 * Splits `total` in proportion to `weights` so that the parts sum to the total exactly; weights that sum to nothing
 * count alike. Weights may be of either sign (a discount among charges). Throws RangeError without weights.
 */
export function allocate(total: Money, weights: readonly Decimal[]): Money[] {
  const weightSum = sum(weights)
  const parts = weightSum.eq(ZERO)
    ? weights.map(() => total.quantity.div(decimal(weights.length.toString())))
    : weights.map(weight => total.quantity.times(weight).div(weightSum))
  return roundToTotal(parts, total)
}

/** The same money with its sign turned; zero stays zero. */
export const negateMoney = (value: Money): Money =>
  ({ quantity: value.quantity.eq(ZERO) ? ZERO : value.quantity.neg(), currency: value.currency }) as Money

/** The wire form `{quantity, currency}`; money carries its currency's places, an exact amount its plain text. */
export const amountView = (value: Amount): { quantity: string; currency: string } => ({
  quantity: plain(value.quantity),
  currency: value.currency,
})

/** As `amountView`, but fixed to the currency's places ("10.00"), for figures a person reads. */
export const moneyView = (value: Money): { quantity: string; currency: string } => ({
  quantity: fixed(value.quantity, currencyExponent(value.currency)),
  currency: value.currency,
})
