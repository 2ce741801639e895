// What usage costs, for the slow model.
import { cents, plus, type Ratio, ratio, rounded, times } from './ratio.ts'
import type { Price } from './story.ts'

/** In cents: one price, or two tiers. */
export function usagePrice({ amount, above }: Price, quantity: Ratio): number {
  const rest = above ? plus(quantity, ratio(-above.quantity, 1)) : ratio(0, 1)
  if (!above || rest[0] <= 0n) return rounded(times(quantity, cents(amount)))
  return rounded(plus(cents(above.quantity * amount), times(rest, cents(above.amount))))
}
