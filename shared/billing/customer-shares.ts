// How a figure of an invoice line is shared among the customers whose events are in it. Tiers, minimums and free volumes are
// of the line as a whole, so nobody's part of it can be priced alone: it is shared in proportion. Pure.
import { type Decimal, ONE, placesOf, sum, ZERO } from '../decimal.ts'
import { roundParts } from '../money.ts'

/** What one customer's events are in a line. */
export type Portion = {
  readonly customerId: string
  /** What its events come to in the line's calculation: for SUM and AVERAGE the sum of their values, else their own figure. */
  readonly weight: Decimal
  /** How many events they are; above zero. */
  readonly count: Decimal
}

/** Parts by customer. */
export type Parts = ReadonlyMap<string, Decimal>

/** Decimals of a share. */
const SHARE_PLACES = 12

/**
 * Whether the portions are weighed by how many events they are: where weights are no proportions, because one is below zero
 * or all are zero.
 */
export const isByEvents = (portions: readonly Portion[]): boolean =>
  portions.some(({ weight }) => weight.lt(ZERO)) || portions.every(({ weight }) => weight.eq(ZERO))

/**
 * `total`, which may be of either sign, in proportion to the portions, with as many decimals as it has and at least
 * `places`. The parts sum to it exactly; the smallest units that rounding leaves go to the largest remainders, and of equal
 * ones to the lesser customer id, so that the order of the portions changes nothing. Without portions there are no parts.
 */
export function apportion(portions: readonly Portion[], total: Decimal, places: number): Map<string, Decimal> {
  return settle(exactParts(portions, total), total, places)
}

/** The parts before they are rounded; what a division leaves is less than the 40th decimal. */
export function exactParts(portions: readonly Portion[], total: Decimal): Map<string, Decimal> {
  const byEvents = isByEvents(portions)
  const weightOf = ({ weight, count }: Portion): Decimal => (byEvents ? count : weight)
  const all = sum(portions.map(weightOf))
  return new Map(portions.map(each => [each.customerId, total.times(weightOf(each)).div(all)]))
}

/** Rounds parts so that they sum to `total`, as `apportion` does. */
export function settle(parts: Parts, total: Decimal, places: number): Map<string, Decimal> {
  const entries = [...parts].sort(([a], [b]) => (a < b ? -1 : 1))
  if (entries.length === 0) return new Map()
  const exact = entries.map(([, part]) => part)
  const rounded = roundParts(exact, total, Math.max(places, placesOf(total)))
  return new Map(entries.map(([id], index) => [id, rounded[index] ?? ZERO]))
}

/** Each customer's share of the line: from 0 to 1, with 12 decimals at most, and 1 in all. */
export const sharesOf = (portions: readonly Portion[]): Map<string, Decimal> => apportion(portions, ONE, SHARE_PLACES)
