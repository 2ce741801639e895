// How much of a line, and of its taxes, a credit takes: the parts credited over time sum, in the end, to the line.
// Pure.
import { type Decimal, sum, ZERO } from '../../../../shared/decimal.ts'
import { allocate, amount, type Money, toMoney } from '../../../../shared/money.ts'

/** The part of a line that is in one tax summary: net and tax. */
export type Share = { readonly base: Decimal; readonly tax: Decimal }

/** Whether amounts are given without tax or with it, as for the prices of the invoice. */
export type Basis = 'EXCLUDING_TAX' | 'INCLUDING_TAX'

const weightOf = ({ base, tax }: Share, basis: Basis): Decimal => (basis === 'INCLUDING_TAX' ? base.plus(tax) : base)

/** The sum of these shares, without tax or with it. */
export const amountOf = (shares: readonly Share[], basis: Basis): Decimal =>
  sum(shares.map(share => weightOf(share, basis)))

/** Whether this much of `left` can be credited: not zero, with the same sign, and no more than is left. */
export const isWithin = (wanted: Decimal, left: Decimal): boolean =>
  !wanted.eq(ZERO) && wanted.gt(ZERO) === left.gt(ZERO) && wanted.abs().lte(left.abs())

/**
 * The shares of a credit of `wanted` from what is left of a line. When everything left is credited, it is taken
 * exactly, to the last cent; a part takes its tax in proportion, rounded to the currency.
 */
export function creditShares(
  left: readonly Share[],
  wanted: Decimal,
  { basis, currency }: { readonly basis: Basis; readonly currency: string },
): Share[] {
  if (wanted.eq(amountOf(left, basis))) return [...left]
  const money = (quantity: Decimal): Money => toMoney(amount(quantity, currency))
  const parts = allocate(
    money(wanted),
    left.map(share => weightOf(share, basis)),
  )
  return left.map((share, index) => {
    const part = parts[index]?.quantity ?? ZERO
    const weight = weightOf(share, basis)
    const tax = weight.eq(ZERO) ? ZERO : money(share.tax.times(part).div(weight)).quantity
    return { base: basis === 'INCLUDING_TAX' ? part.minus(tax) : part, tax }
  })
}

/** What is left of shares after these. */
export const minusShares = (left: readonly Share[], credited: readonly Share[]): Share[] =>
  left.map(({ base, tax }, index) => ({
    base: base.minus(credited[index]?.base ?? ZERO),
    tax: tax.minus(credited[index]?.tax ?? ZERO),
  }))

/** Divides an amount over lines in proportion to what is left of each. */
export const spreadCredit = (wanted: Decimal, left: readonly Decimal[], currency: string): Decimal[] =>
  allocate(toMoney(amount(wanted, currency)), left).map(({ quantity }) => quantity)
