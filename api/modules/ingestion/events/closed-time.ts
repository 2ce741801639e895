// Which invoice asked, or will ask, for what an event carries, when the time it belongs to is closed: the one that counted
// it, or for what came too late the next one of the subscription, if the platform wants that and there is one.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { findPriceModel } from '../../../../shared/rating/rate.ts'
import type { EventKey } from '../../../usage/stored-events.ts'
import {
  type ClosedCharge,
  type ClosedUsage,
  closedNames,
  closedUsageAt,
  wasCounted,
} from '../../billing/late/closed-usage.ts'
import type { ConditionNamesInput } from '../../catalog/conditions/load-names.ts'
import type { Rating } from './load-prices.ts'
import { loadPersistedUsage } from './persisted-usage.ts'

export type BilledBy =
  /** No invoice that has it is closed. */
  | { readonly kind: 'OPEN' }
  | { readonly kind: 'COUNTED'; readonly invoiceId: string }
  /** It is billed on the next invoice; null when that does not exist yet. */
  | { readonly kind: 'NEXT'; readonly invoiceId: string | null }
  /** It came too late, and is billed on no invoice. */
  | { readonly kind: 'NEVER' }
  /** A state was recorded for a moment after it in the same period, so that nothing counts it (persist data). */
  | { readonly kind: 'REPLACED' }

export type ClosedTime = {
  readonly names: ReadonlyMap<string, ConditionNamesInput>
  /** What is closed of a subscription at an event's time. */
  at(
    subscriptionId: string,
    event: EventKey,
  ): {
    asked(rating: Pick<Rating, 'configId' | 'productItemId'>): BilledBy
    /** Of what the conditions of a price named when it was closed; null when they mean what they mean now. */
    namesHash(configId: string, productItemId: string): string | null
  }
}

type Found = { readonly of: ClosedUsage; readonly charge: ClosedCharge }

/** What closed invoices of these subscriptions counted at the times of these events. */
export async function loadClosedTime(
  uow: ReadUow,
  subscriptionIds: readonly string[],
  events: readonly EventKey[],
): Promise<ClosedTime> {
  const times = events.map(event => Number(event.timestamp))
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const persisted = await loadPersistedUsage(uow, subscriptionIds, first)
  // Of time before a recorded state it matters what was billed since.
  const [plainly, withStates] = [
    subscriptionIds.filter(id => !persisted.has(id)),
    subscriptionIds.filter(id => persisted.has(id)),
  ]
  const closed = [
    ...(await closedUsageAt(uow, plainly, [first, last])),
    ...(await closedUsageAt(uow, withStates, [first, FOREVER_MS])),
  ]
  const names = await closedNames(
    uow,
    closed.map(each => each.names_hash),
  )
  const next = await loadNext(uow, [...new Set(closed.map(each => each.subscription_id))])
  const bySubscription = new Map<string, ClosedUsage[]>()
  for (const each of closed) {
    const list = bySubscription.get(each.subscription_id)
    if (list) list.push(each)
    else bySubscription.set(each.subscription_id, [each])
  }
  return {
    names,
    at: (subscriptionId, event) => {
      const all = (bySubscription.get(subscriptionId) ?? []).flatMap(of =>
        of.charges.map((charge): Found => ({ of, charge })),
      )
      const found = all.filter(({ charge }) => isWithin(event.timestamp, charge.service))
      const ofPrice = (configId: string, productItemId: string): Found[] =>
        found.filter(({ charge }) => charge.config_id === configId && charge.product_item_id === productItemId)
      return {
        asked: rating => {
          const own = ofPrice(rating.configId, rating.productItemId)
          if (own.length === 0)
            return persisted.get(subscriptionId)?.replaces(rating, event.timestamp)
              ? { kind: 'REPLACED' }
              : { kind: 'OPEN' }
          return askedOf(own, { event, all, late: next.get(subscriptionId) ?? { kind: 'NEVER' } })
        },
        namesHash: (configId, productItemId) => ofPrice(configId, productItemId)[0]?.of.names_hash ?? null,
      }
    },
  }
}

const FOREVER_MS = Date.UTC(2200, 0)
const isWithin = (at: number, [start, end]: readonly [number, number]): boolean => start <= at && at < end

/** `found`: what was billed for the event's time. `all`: everything that was billed for the subscription. */
function askedOf(
  found: readonly Found[],
  { event, all, late }: { readonly event: EventKey; readonly all: readonly Found[]; readonly late: BilledBy },
): BilledBy {
  const [first] = found
  // A lump is asked whatever the usage.
  if (first && findPriceModel(first.charge.pricing_type)?.perPricingPeriod === false)
    return { kind: 'COUNTED', invoiceId: first.of.invoice_id }
  const reaching = found.filter(({ charge }) => charge.usage[0] <= event.timestamp)
  const counted = reaching.find(({ of }) => wasCounted(of, event))
  if (counted) return { kind: 'COUNTED', invoiceId: counted.of.invoice_id }
  // What is rated again for late usage is what was rated last of the same pricing period.
  const asked = all.filter(({ charge }) => charge.unit === first?.charge.unit)
  const last = asked.reduce<ClosedCharge | null>(
    (best, { charge }) => (best === null || charge.usage[1] >= best.usage[1] ? charge : best),
    null,
  )
  return last && last.usage[0] > event.timestamp ? { kind: 'REPLACED' } : late
}

/** For each subscription where its late usage goes: the same rule as `takesLateUsage`. */
async function loadNext(uow: ReadUow, subscriptionIds: readonly string[]): Promise<Map<string, BilledBy>> {
  if (subscriptionIds.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string; goes_on: boolean; invoice_id: string | null }>(sql`
    select s.id, s.next_billing_at is not null as goes_on, (
      select v.id from invoices v
      where v.platform_id = s.platform_id and v.environment = s.environment and v.pricing_plan_subscription_id = s.id
        and v.status in ('OPEN', 'DRAFT') and v.cutoff_at is not null
      order by v.cutoff_at, v.id limit 1) as invoice_id
    from pricing_plan_subscriptions s
    join platforms p on p.platform_id = s.platform_id and p.environment = s.environment
      and p.late_event_policy = 'NEXT_INVOICE'
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.id in ${subscriptionIds}`)
  return new Map(
    rows.map(row => [
      row.id,
      row.goes_on || row.invoice_id !== null ? { kind: 'NEXT', invoiceId: row.invoice_id } : { kind: 'NEVER' },
    ]),
  )
}
