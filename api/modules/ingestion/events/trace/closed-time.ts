// Which invoice billed, or will bill, what an event carries, when the time it belongs to is closed: the one that counted
// it, or for what came too late the next one of the subscription, if the platform wants that and there is one.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { findPriceModel } from '../../../../../shared/rating/rate.ts'
import type { EventKey } from '../../../../usage/stored-events.ts'
import {
  CHARGED_NOTHING,
  type ClosedCharge,
  type ClosedUsage,
  closedNames,
  closedUsageAt,
  wasCounted,
} from '../../../billing/late/closed-usage.ts'
import type { ConditionNamesInput } from '../../../catalog/conditions/load-names.ts'
import type { Rating } from './load-prices.ts'
import { loadPersistedUsage } from './persisted-usage.ts'

export type BilledBy =
  /** No invoice that has it is closed. */
  | { readonly kind: 'OPEN' }
  | { readonly kind: 'COUNTED'; readonly invoiceId: string }
  /** It is billed on the next invoice, or on the one that corrects the invoice it is late for; null while there is none. */
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
    billedBy(rating: Pick<Rating, 'configId' | 'productItemId'>): BilledBy
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
  const next = await loadNext(uow, closed)
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
        billedBy: rating => {
          const own = ofPrice(rating.configId, rating.productItemId)
          if (own.length === 0)
            return persisted.get(subscriptionId)?.replaces(rating, event.timestamp)
              ? { kind: 'REPLACED' }
              : { kind: 'OPEN' }
          return billedByOf(own, { event, all, late: next.get(own[0]?.of.invoice_id ?? '') ?? { kind: 'NEVER' } })
        },
        namesHash: (configId, productItemId) => ofPrice(configId, productItemId)[0]?.of.names_hash ?? null,
      }
    },
  }
}

const FOREVER_MS = Date.UTC(2200, 0)
const isWithin = (at: number, [start, end]: readonly [number, number]): boolean => start <= at && at < end

const documentOf = ({ combined_into_id, invoice_id }: ClosedUsage): string => combined_into_id ?? invoice_id

/** `found`: what was billed for the event's time. `all`: everything that was billed for the subscription. */
function billedByOf(
  found: readonly Found[],
  { event, all, late }: { readonly event: EventKey; readonly all: readonly Found[]; readonly late: BilledBy },
): BilledBy {
  const [first] = found
  // A lump sum is billed whatever the usage.
  if (first && findPriceModel(first.charge.pricing_type)?.perPricingPeriod === false)
    return { kind: 'COUNTED', invoiceId: documentOf(first.of) }
  const reaching = found.filter(({ charge }) => charge.usage[0] <= event.timestamp)
  const counted = reaching.find(({ of }) => wasCounted(of, event))
  if (counted) return { kind: 'COUNTED', invoiceId: documentOf(counted.of) }
  // What is rated again for late usage is what was rated last of the same pricing period.
  const billed = all.filter(({ charge }) => charge.unit === first?.charge.unit)
  const last = billed.reduce<ClosedCharge | null>(
    (best, { charge }) => (best === null || charge.usage[1] >= best.usage[1] ? charge : best),
    null,
  )
  return last && last.usage[0] > event.timestamp ? { kind: 'REPLACED' } : late
}

/** For each closed invoice where its late usage goes; an invoice whose late usage is billed nowhere is absent. */
async function loadNext(uow: ReadUow, closed: readonly ClosedUsage[]): Promise<Map<string, BilledBy>> {
  if (closed.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  // On the next invoice: the same rule as `takesLateUsage`. In a correction: the same as `prepareCorrections`.
  const { rows } = await uow.tx.execute<LateRow>(sql`
    select v.id, p.late_event_policy = 'NEXT_INVOICE' or ${CHARGED_NOTHING} as on_next,
      s.next_billing_at is not null as goes_on, k.new_invoice_id as correction_id,
      exists (select from invoice_corrections w
        where w.platform_id = v.platform_id and w.environment = v.environment and w.original_invoice_id = v.id
          and w.status = 'WITHDRAWN')
      or exists (select from invoices n
        where n.platform_id = v.platform_id and n.environment = v.environment and n.original_invoice_id = v.id
          and n.type = 'CREDIT' and n.status in ('OPEN', 'DRAFT', 'FINAL')) as stays,
      (select o.id from invoices o
        where o.platform_id = v.platform_id and o.environment = v.environment
          and o.pricing_plan_subscription_id = v.pricing_plan_subscription_id
          and o.status in ('OPEN', 'DRAFT') and o.cutoff_at is not null
        order by o.cutoff_at, o.id limit 1) as next_id
    from invoices v
    join pricing_plan_subscriptions s on s.platform_id = v.platform_id and s.environment = v.environment
      and s.id = v.pricing_plan_subscription_id
    join platforms p on p.platform_id = v.platform_id and p.environment = v.environment
    left join invoice_corrections k on k.platform_id = v.platform_id and k.environment = v.environment
      and k.original_invoice_id = v.id and k.status = 'PREPARED'
    where v.platform_id = ${platformId} and v.environment = ${environment} and p.late_event_policy <> 'NOT_MATCHED'
      and v.id in ${closed.map(({ invoice_id }) => invoice_id)}`)
  return new Map(rows.map(row => [row.id, lateOf(row)]))
}

type LateRow = {
  id: string
  on_next: boolean
  goes_on: boolean
  correction_id: string | null
  stays: boolean
  next_id: string | null
}

function lateOf({ on_next, goes_on, correction_id, stays, next_id }: LateRow): BilledBy {
  if (on_next) return goes_on || next_id !== null ? { kind: 'NEXT', invoiceId: next_id } : { kind: 'NEVER' }
  if (correction_id !== null) return { kind: 'NEXT', invoiceId: correction_id }
  return stays ? { kind: 'NEVER' } : { kind: 'NEXT', invoiceId: null }
}
