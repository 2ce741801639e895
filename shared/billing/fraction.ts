// An exact ratio. Stored as two whole decimals, so that amounts are multiplied before they are divided.
import { type Decimal, decimalOfInteger, ONE, ZERO } from '../decimal.ts'

export type Fraction = { readonly numerator: Decimal; readonly denominator: Decimal }

/** Throws RangeError unless the denominator is above zero. */
export function fraction(numerator: Decimal | number, denominator: Decimal | number): Fraction {
  const exact = (value: Decimal | number): Decimal => (typeof value === 'number' ? decimalOfInteger(value) : value)
  const over = exact(denominator)
  if (over.lte(ZERO)) throw new RangeError('the denominator of a fraction must be above zero')
  return { numerator: exact(numerator), denominator: over }
}

export const WHOLE: Fraction = fraction(1, 1)
export const NOTHING: Fraction = fraction(0, 1)

/**
 * `value × fraction`: exact when the result is a finite decimal of at most 40 places, otherwise rounded at the 40th.
 */
export const timesFraction = (value: Decimal, by: Fraction): Decimal => {
  const product = value.times(by.numerator)
  return by.denominator.eq(ONE) ? product : product.div(by.denominator)
}

export const addFractions = (a: Fraction, b: Fraction): Fraction =>
  a.denominator.eq(b.denominator)
    ? fraction(a.numerator.plus(b.numerator), a.denominator)
    : fraction(
        a.numerator.times(b.denominator).plus(b.numerator.times(a.denominator)),
        a.denominator.times(b.denominator),
      )

export const multiplyFractions = (a: Fraction, b: Fraction): Fraction =>
  fraction(a.numerator.times(b.numerator), a.denominator.times(b.denominator))

export const isWhole = (value: Fraction): boolean => value.numerator.eq(value.denominator)
