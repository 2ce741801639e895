// The exchange rates that subscriptions are billed by.
import type { ExchangeRate } from '../../../../../shared/billing/exchange/exchange-rates.ts'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { at, type Instant, instantOf } from '../../../../../shared/time.ts'
import { loadRates, ratesOf } from '../../../parties/exchange-rates/load-rates.ts'
import type { ScheduleInput, SubscriptionInput } from '../billing-inputs.ts'
import type { CatalogInputs } from './load-catalog.ts'

/** A subscription with what it sells. */
export type Sold = {
  readonly subscription: SubscriptionInput
  readonly catalog: CatalogInputs
  readonly schedules: readonly ScheduleInput[]
}

/** Whether it is priced in another currency than it is billed in. */
export const isForeign = (priced: Sold): boolean => currenciesOf(priced).length > 1

/** What it is billed in, what its schedules are priced in, and what prices of these currencies fall back to. */
function currenciesOf({ subscription, catalog, schedules: own }: Sold): string[] {
  const priced = new Set([subscription.billing_currency, ...own.map(({ pricing_currency }) => pricing_currency)])
  const fallbacks = catalog.pricings.flatMap(({ items }) =>
    items.flatMap(({ pricing_currency_configs: entries = [] }) =>
      entries.flatMap(({ currency, fallback_currency }) => (priced.has(currency) ? (fallback_currency ?? []) : [])),
    ),
  )
  return [...new Set([...priced, ...fallbacks])]
}

/** When the first of its schedules starts. */
export const startOf = ({ schedules: own }: Pick<Sold, 'schedules'>): Instant =>
  instantOf(Math.min(...own.map(({ start_at }) => at(start_at))))

/**
 * The exchange rates of each; the same for a subscription whichever others are read with it. Few are priced in another
 * currency than they are billed in, and the others need no query.
 */
export async function loadExchange(uow: ReadUow, all: readonly Sold[]) {
  const foreign = all.filter(isForeign)
  const loaded =
    foreign.length === 0
      ? []
      : await loadRates(uow, [...new Set(foreign.flatMap(currenciesOf))], instantOf(Math.min(...foreign.map(startOf))))
  return (priced: Sold): ExchangeRate[] => ratesOf(loaded, currenciesOf(priced), startOf(priced))
}
