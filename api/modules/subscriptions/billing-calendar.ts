// Where the billing periods of a subscription are cut: at local midnights, counted from its billing anchor or else from its first
// schedule (semantics 0.4, 4.4).
import { billingPeriodAt, type Span, type Zone, zoneOf } from '../../../shared/billing/periods.ts'
import type { ReadUow } from '../../../shared/database/database.ts'
import { at, type Instant } from '../../../shared/time.ts'
import { getOne } from '../../resource/store.ts'
import { billingEntityResource } from '../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { platformResource } from '../parties/platforms/platform.ts'
import type { Schedule, Subscription } from './table.ts'
import { billedCustomerOf } from './variants.ts'

/** What the periods of an EXACT subscription count from: the local day of its anchor, else of its start. */
export const anchorOf = ({ billing_anchor }: { readonly billing_anchor: string | null }, start: Instant): Instant =>
  billing_anchor === null ? start : at(billing_anchor)

/** The zone days are cut in: of the customer that gets the invoices, else of the billing entity, else of the platform, else UTC. */
export async function zoneOfSubscription(uow: ReadUow, subscription: Subscription): Promise<Zone> {
  const customerId = billedCustomerOf(subscription)
  const customer = customerId === null ? null : await getOne(uow, customerResource, customerId)
  const entity = await getOne(uow, billingEntityResource, subscription.billing_entity_id)
  const platform = await getOne(uow, platformResource, uow.tenant.platformId)
  const name: string = customer?.timezone ?? entity.timezone ?? platform.timezone ?? 'UTC'
  const zone = zoneOf(name)
  if (zone === null) throw new Error(`not a stored time zone: ${name}`)
  return zone
}

/**
 * The end of the billing period that runs now. Before the first period it is that one's start; after the last, now: then
 * nothing is billed any more. `schedules` are in the order of time, and one at least.
 */
export async function currentPeriodEnd(
  uow: ReadUow,
  subscription: Subscription,
  schedules: readonly Schedule[],
): Promise<Instant> {
  const first = schedules[0]
  const last = schedules.at(-1)
  if (!first || !last) return uow.now
  const span: Span = { start: at(first.start_at), end: last.end_at === null ? null : at(last.end_at) }
  if (uow.now < span.start) return span.start
  const zone = await zoneOfSubscription(uow, subscription)
  const grid = {
    length: subscription.billing_period,
    billingTime: subscription.billing_time,
    zone,
    anchor: anchorOf(subscription, span.start),
  }
  return billingPeriodAt(grid, span, uow.now)?.covered.end ?? uow.now
}
