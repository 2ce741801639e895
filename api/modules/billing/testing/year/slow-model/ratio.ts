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
export const min = (a: Ratio, b: Ratio): Ratio => (a[0] * b[1] < b[0] * a[1] ? a : b)
export const isAbove = ([over]: Ratio): boolean => over > 0n

/**
 * These parts in whole cents that sum to the whole, rounded: each is rounded down, and what is left goes to the largest remainders, the
 * first one first.
 */
export function divided(parts: readonly Ratio[]): number[] {
  const whole = rounded(parts.reduce(plus, ratio(0, 1)))
  const down = parts.map(([over, under], place) => {
    const cents = over >= 0n ? over / under : -((under - 1n - over) / under)
    return { place, cents: Number(cents), rest: [over - cents * under, under] as const }
  })
  let left = whole - down.reduce((sum, { cents: value }) => sum + value, 0)
  const found = down.map(({ cents: value }) => value)
  const inOrder = down.toSorted((a, b) => Number(b.rest[0] * a.rest[1] - a.rest[0] * b.rest[1]) || a.place - b.place)
  for (const { place } of inOrder) {
    if (left <= 0) break
    found[place] = (found[place] ?? 0) + 1
    left -= 1
  }
  return found
}
