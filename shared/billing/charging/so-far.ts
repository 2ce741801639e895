// The only rounding rule for an amount that is billed in several parts: each part is the rounded total so far, less
// what was billed before (semantics 3.2). However the amount is divided, the parts sum to the rounded whole.
import type { Decimal } from '../../decimal.ts'
import { amount, toMoney } from '../../money.ts'
import { type Fraction, timesFraction } from '../fraction.ts'

/** The part to bill now: the exact total so far, rounded to the currency, less everything billed of it before. */
export const billedNow = (wholeSoFar: Decimal, billedBefore: Decimal, currency: string): Decimal =>
  toMoney(amount(wholeSoFar, currency)).quantity.minus(billedBefore)

/**
 * Like `billedNow`, for earlier parts that followed this rule too: together they billed the rounded total up to them.
 */
export const roundedDifference = (wholeSoFar: Decimal, wholeBefore: Decimal, currency: string): Decimal =>
  billedNow(wholeSoFar, toMoney(amount(wholeBefore, currency)).quantity, currency)

/** The printed parts of `whole` by increasing shares of it: `[1/3, 2/3, 1]` of 0.999 are 0.33, 0.34 and 0.33. */
export function printedParts(whole: Decimal, sharesSoFar: readonly Fraction[], currency: string): Decimal[] {
  const soFar = sharesSoFar.map(share => toMoney(amount(timesFraction(whole, share), currency)).quantity)
  return soFar.map((printed, index) => {
    const before = soFar[index - 1]
    return before === undefined ? printed : printed.minus(before)
  })
}
