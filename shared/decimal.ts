// Exact decimals for money and quantities. Everything arithmetic goes through here; JS numbers never take part.
import Big from 'big.js'

const Strict = Big()
Strict.strict = true // a JS number as operand throws, so a float can never slip in
/** Places kept by a division; multiplication, addition and subtraction are exact. */
export const DIVISION_PLACES = 40
Strict.DP = DIVISION_PLACES
Strict.RM = 1 // half up (away from zero), the rounding of semantics 0.5
// Comparisons are most of what pricing asks of decimals, and the library copies what it compares with, digit by digit.
Strict.prototype = Object.assign(Object.create(Strict.prototype), { cmp: compare })

export type Decimal = Big.Big

// As many digits on either side of the point as `Decimal(38, 12)` in ClickHouse holds.
const PLAIN_DECIMAL = /^-?[0-9]{1,26}(?:\.[0-9]{1,12})?$/

/** Whether `text` is a plain decimal (no exponent, sign other than a leading minus, space or hex) that fits Decimal(38, 12). */
export function isPlainDecimal(text: string): boolean {
  return text.length <= 40 && PLAIN_DECIMAL.test(text)
}

/** A decimal from its plain text. Throws on anything `isPlainDecimal` refuses but longer fractions, which arise inside. */
export function decimal(text: string): Decimal {
  return new Strict(text)
}

export const isDecimal = (value: unknown): value is Decimal => value instanceof Strict

export const ZERO: Decimal = decimal('0')
export const ONE: Decimal = decimal('1')
export const HUNDRED: Decimal = decimal('100')

/** The decimal of a whole JS number such as a count of days. Throws when it is not a safe integer. */
export function decimalOfInteger(value: number | bigint): Decimal {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new RangeError(`not a safe integer: ${value}`)
  return decimal(value.toString())
}

/** Plain text of a decimal: never an exponent, no trailing zeros, `-0` is `0`. */
export function plain(value: Decimal): string {
  const text = value.toFixed()
  return text === '-0' ? '0' : text
}

/** Plain text with exactly `places` decimals: 10 is "10.00", and what has more is rounded half up. */
export function fixed(value: Decimal, places: number): string {
  const has = Math.max(decimalsOf(value), 0)
  if (has > places) return plain(roundHalfUp(value, places)) === '0' ? fixed(ZERO, places) : value.toFixed(places)
  return `${plain(value)}${has === 0 && places > 0 ? '.' : ''}${'0'.repeat(places - has)}`
}

/** How many decimals a value has, without trailing zeros. */
export const placesOf = (value: Decimal): number => plain(value).split('.')[1]?.length ?? 0

export const sum = (values: Iterable<Decimal>): Decimal => {
  let total: Decimal | null = null
  for (const value of values) total = total === null ? value : total.plus(value)
  return total ?? ZERO
}

export const min = (a: Decimal, b: Decimal): Decimal => (a.lte(b) ? a : b)
export const max = (a: Decimal, b: Decimal): Decimal => (a.gte(b) ? a : b)

/** `value` rounded half up (away from zero) to `places` decimals; negative zero becomes zero. */
export function roundHalfUp(value: Decimal, places: number): Decimal {
  // Most values have no more decimals than that; a rounding would copy them digit by digit.
  if (decimalsOf(value) <= places) return value.eq(ZERO) ? ZERO : value
  const rounded = value.round(places, 1)
  return rounded.eq(ZERO) ? ZERO : rounded
}

/**
 * `value` divided by `by`, rounded half up to `places` decimals. By whole numbers, which takes a tenth of a division to forty places,
 * digit by digit. Throws RangeError when `by` is zero.
 */
export function quotient(value: Decimal, by: Decimal, places: number): Decimal {
  const shift = exponentOf(value) - exponentOf(by) + places
  const dividend = coefficientOf(value) * 10n ** BigInt(Math.max(shift, 0))
  const divisor = coefficientOf(by) * 10n ** BigInt(Math.max(-shift, 0))
  const rounded = (2n * dividend + divisor) / (2n * divisor)
  return rounded === 0n ? ZERO : decimal(`${value.s === by.s ? '' : '-'}${rounded}e-${places}`)
}

/** 1 when this decimal is larger than `by`, -1 when it is smaller, 0 when they are equal. Throws for a JS number. */
function compare(this: Decimal, by: Big.BigSource): Big.Comparison {
  const other = by instanceof Strict ? by : new Strict(by)
  const sign = signOf(this)
  const otherSign = signOf(other)
  if (sign !== otherSign) return sign > otherSign ? 1 : -1
  if (sign === 0) return 0
  return sign > 0 ? compareDigits(this, other) : compareDigits(other, this)
}

const signOf = ({ s, c }: Decimal): number => (c[0] === 0 ? 0 : s)

/** Of two decimals other than zero, as if both were positive. Their first digit is not 0, and neither is their last. */
function compareDigits({ e, c }: Decimal, other: Decimal): Big.Comparison {
  if (e !== other.e) return e > other.e ? 1 : -1
  const length = Math.max(c.length, other.c.length)
  for (let place = 0; place < length; place += 1) {
    const difference = (c[place] ?? 0) - (other.c[place] ?? 0)
    if (difference !== 0) return difference > 0 ? 1 : -1
  }
  return 0
}

/** How many decimals a value has; less than nothing for 1000, which is one digit and three places. */
const decimalsOf = ({ c, e }: Decimal): number => c.length - 1 - e

const coefficientOf = ({ c }: Decimal): bigint => BigInt(c.join(''))
const exponentOf = (value: Decimal): number => -decimalsOf(value)
