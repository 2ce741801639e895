// What usage, seats and fees cost, for the slow model.
import { daysBetween, type Length, periodAt } from '../calendar.ts'
import type { Price } from '../story.ts'
import type { Period } from './books.ts'
import { cents, plus, type Ratio, ratio, rounded, times } from './ratio.ts'

/** In cents: one price, or two tiers, in which less than nothing counts as nothing. */
export function usagePrice({ amount, above }: Price, quantity: Ratio): number {
  if (above && quantity[0] < 0n) return 0
  const rest = above ? plus(quantity, ratio(-above.quantity, 1)) : ratio(0, 1)
  if (!above || rest[0] <= 0n) return rounded(times(quantity, cents(amount)))
  return rounded(plus(cents(above.quantity * amount), times(rest, cents(above.amount))))
}

/** In cents: a number of seats, or one fee, for some days of a period. `billing` is the length of a price that names none. */
export const worth = (
  price: Price,
  { seats, days, period }: { readonly seats: number; readonly days: number; readonly period: Period },
  billing: Length,
): Ratio => {
  const scale = pricingPeriods(price.pricing ?? price.billing ?? billing, price.billing ?? billing, period)
  return times(times(cents(price.amount * seats), scale), ratio(days, period.fullDays))
}

/** How many pricing periods make a billing period (semantics 3.3). */
function pricingPeriods(pricing: Length, billing: Length, { from, until, grid }: Period): Ratio {
  const months = ({ type, value }: Length): number => (type === 'MONTH' ? value : type === 'YEAR' ? 12 * value : 0)
  const days = ({ type, value }: Length): number => (type === 'DAY' ? value : type === 'WEEK' ? 7 * value : 0)
  if (months(pricing) > 0 && months(billing) > 0) return ratio(months(billing), months(pricing))
  const own = daysBetween(from, until, grid.zone)
  if (days(pricing) > 0) return ratio(days(billing) || own.length, days(pricing))
  let sum = ratio(0, 1)
  for (const day of own) {
    const [first, next] = periodAt(grid, pricing, day)
    sum = plus(sum, ratio(1, daysBetween(first, next, grid.zone).length))
  }
  return sum
}
