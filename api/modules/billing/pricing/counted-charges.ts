// What is stored of the charges of an invoice when it is closed: the rated usage, the amounts, and each customer's
// part. Pure.
import { persistedUsageAt } from '../../../../shared/billing/persisted-usage.ts'
import { type Decimal, plain } from '../../../../shared/decimal.ts'
import type { Interval } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charge.ts'
import type { ClosedCharge, ClosedPart } from '../late/closed-usage.ts'
import type { RatedCharge } from '../rating/rate-charge.ts'
import type { CustomerPart, PartsOfCharges } from '../shares/customer-parts.ts'

type CountedAmounts = {
  /** By the key of a charge, what its line prints. */
  readonly printed: (key: string) => Decimal
  /** What clauses on prices left of it, where a minimum counts that. */
  readonly nets: ReadonlyMap<string, Decimal>
}

/** What is stored of the metered charges when the invoice is closed, including charges of zero. */
export function countedCharges(
  rated: readonly RatedCharge[],
  { printed, nets }: CountedAmounts,
  parts: PartsOfCharges | null,
): ClosedCharge[] {
  return rated.flatMap(({ charge, metered: volume, exact, credits, exchange }): ClosedCharge[] => {
    const { schedule, item, config, productItem, service, usage } = charge
    if (!usage) return []
    const net = nets.get(charge.key)
    return [
      {
        unit: charge.ratingGroup,
        schedule_id: schedule.id,
        item_id: item.id,
        config_id: config.id,
        product_item_id: productItem.id,
        pricing_type: config.pricing_type,
        billing_period: { ...charge.billingPeriod },
        service: [service.start, service.end],
        usage: [usage.start, usage.end],
        number: plain(volume.quantity),
        count: plain(volume.count),
        exact: plain(exact),
        printed: plain(printed(charge.key)),
        ...(net ? { net: plain(net) } : {}),
        ...(credits ? { credits: plain(credits.needed) } : {}),
        ...(charge.exchange ? { exchange_rates: charge.exchange.used.map(rate => ({ ...rate })) } : {}),
        ...(exchange && exchange.held.length > 0 ? { usage_rates: exchange.held.map(rate => ({ ...rate })) } : {}),
        ...persistedIn(charge, usage),
        ...(parts ? { parts: (parts.get(charge.key) ?? []).map(closedPart) } : {}),
      },
    ]
  })
}

function persistedIn({ persisted }: Charge, usage: Interval): Pick<ClosedCharge, 'told'> {
  const state = persistedUsageAt(persisted, usage)
  return state ? { told: { id: state.id, usage: plain(state.usage) } } : {}
}

const closedPart = ({ customerId, volume, exact, printed }: CustomerPart): ClosedPart => ({
  customer_id: customerId,
  number: plain(volume.quantity),
  count: plain(volume.count),
  exact: plain(exact),
  printed: plain(printed),
})
