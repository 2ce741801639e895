// The exchange rates by which prices in another currency were converted.
import type { PriceDetailsView } from '../schema.ts'

type Rates = NonNullable<PriceDetailsView['used_exchange_rates']>
type Priced = { readonly details: Pick<PriceDetailsView, 'used_exchange_rates'> }

/** The rates that these lines used, each once, in the order of the lines. */
export function ratesUsed(lines: readonly Priced[]): Rates {
  const used = lines.flatMap(({ details }) => details.used_exchange_rates ?? [])
  return [...new Map(used.map(rate => [JSON.stringify(rate), { ...rate }])).values()]
}
