// Exact ratios of whole numbers, for the slow model.

/** An exact ratio. */
export type Ratio = readonly [bigint, bigint]
export const ratio = (over: number, under: number): Ratio => [BigInt(over), BigInt(under)]
export const plus = ([a, b]: Ratio, [c, d]: Ratio): Ratio => [a * d + c * b, b * d]
export const times = ([a, b]: Ratio, [c, d]: Ratio): Ratio => [a * c, b * d]
/** Half away from zero. */
export function rounded([over, under]: Ratio): number {
  const size = over < 0n ? -over : over
  const whole = (2n * size + under) / (2n * under)
  return Number(over < 0n ? -whole : whole)
}
/** A price in cents. */
export const cents = (tenThousandths: number): Ratio => ratio(tenThousandths, 100)
