// Split pricing: one config, one rated line for each distinct value of the named properties (semantics 3.1).
import type { Volume } from './price.ts'
import { type PriceConfig, type RatedPrice, rate } from './rate.ts'

/** What was used with these values of the properties, in the order the config names them. */
export type SplitUsage = { readonly values: readonly string[]; readonly volume: Volume }

/**
 * Rates every value on its own, so tiers, minimums and blocks start anew for each. Lines are in the order of the values,
 * whatever order the usage is in.
 */
export function rateSplit(
  config: PriceConfig,
  usage: readonly SplitUsage[],
): { readonly values: readonly string[]; readonly rated: RatedPrice }[] {
  const keyOf = ({ values }: SplitUsage): string => JSON.stringify(values)
  return usage
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0))
    .map(({ values, volume }) => ({ values, rated: rate(config, volume) }))
}
