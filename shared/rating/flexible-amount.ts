// Whether a customer may choose an amount (semantics 3.2, FLEXIBLE). The code that takes the order checks this before
// anything is charged.
import { type Decimal, plain, ZERO } from '../decimal.ts'
import type { PriceConfig } from './rate.ts'

/** Why the chosen amount cannot be charged, as a message for the caller; null when it can be charged. */
export function flexibleFault({ bands: [band], currency }: PriceConfig, chosen: Decimal): string | null {
  const { minimumAmount = null, maximumAmount = null } = band ?? {}
  if (chosen.lte(ZERO)) return 'The amount must be greater than 0.'
  if (minimumAmount !== null && chosen.lt(minimumAmount)) {
    return `The amount must be at least ${plain(minimumAmount)} ${currency}.`
  }
  if (maximumAmount !== null && chosen.gt(maximumAmount)) {
    return `The amount must be at most ${plain(maximumAmount)} ${currency}.`
  }
  return null
}
