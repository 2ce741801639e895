// Divides a figure of an invoice line among the customers whose events are in it. Tiers, minimums and free volumes
// apply to the line as a whole, so no customer's part can be priced alone: the figure is divided in proportion. Pure.
import { type Decimal, ONE, placesOf, sum, ZERO } from '../decimal.ts'
import { roundParts } from '../money.ts'

/** The events of one customer in a line. */
export type Portion = {
  readonly customerId: string
  /**
   * The usage of its events in the line's calculation: the sum of their values for SUM and AVERAGE, otherwise their own
   * figure.
   */
  readonly weight: Decimal
  /** The number of its events; above zero. */
  readonly count: Decimal
}

/** Parts by customer. */
export type Parts = ReadonlyMap<string, Decimal>

/** Decimals of a share. */
const SHARE_PLACES = 12

/**
 * Whether the portions are weighed by their number of events: used when the weights give no proportions, because one is
 * below zero or all are zero.
 */
export const isByEvents = (portions: readonly Portion[]): boolean =>
  portions.some(({ weight }) => weight.lt(ZERO)) || portions.every(({ weight }) => weight.eq(ZERO))

/**
 * Divides `total`, which may have either sign, in proportion to the portions. Parts have as many decimals as the total
 * and at least `places`. They sum to it exactly: the smallest units that rounding leaves go to the largest remainders,
 * and among equal remainders to the lower customer id, so that the order of the portions does not matter. Without
 * portions there are no parts.
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

/** Each customer's share of the line: from 0 to 1, with at most 12 decimals, and 1 in total. */
export const sharesOf = (portions: readonly Portion[]): Map<string, Decimal> => apportion(portions, ONE, SHARE_PLACES)
