// Where the billing periods of a subscription are cut: at local midnights, counted from its billing anchor or else from its first
// schedule (semantics 0.4, 4.4).

import { type Zone, zoneOf } from '../../../../shared/billing/local-days.ts'
import { type BillingPeriod, billingPeriodAt, type Span } from '../../../../shared/billing/periods.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { getOne } from '../../../resource/store.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { platformResource } from '../../parties/platforms/platform.ts'
import type { Schedule, Subscription } from '../table.ts'
import { billedCustomerOf } from '../variants.ts'

/** Time that is cut by one anchor: the local day from which the periods of an EXACT subscription count. */
export type AlignedSpan = { readonly span: Span; readonly anchor: Instant }

/**
 * The parts of a subscription's time. Periods count from its billing anchor, or else from its start, and from the start of each schedule in
 * `realigned` on (semantics 4.3: realign_invoice_date…). Parts are in the order of time, without gaps. Pure.
 */
export function alignedSpans(
  { billing_anchor }: { readonly billing_anchor: string | null },
  span: Span,
  realigned: readonly string[],
): [AlignedSpan, ...AlignedSpan[]] {
  const starts = realigned
    .map(at)
    .filter(start => start > span.start && (span.end === null || start < span.end))
    .toSorted((a, b) => a - b)
  const fromStart = realigned.some(start => at(start) === span.start)
  const first = billing_anchor === null || fromStart ? span.start : at(billing_anchor)
  return [
    { span: { start: span.start, end: starts[0] ?? span.end }, anchor: first },
    ...starts.map((start, index) => ({ span: { start, end: starts[index + 1] ?? span.end }, anchor: start })),
  ]
}

/** The part that an instant is in; before them all the first, after them the last. */
export const alignedSpanAt = (spans: readonly [AlignedSpan, ...AlignedSpan[]], instant: Instant): AlignedSpan =>
  spans.findLast(({ span }) => span.start <= instant) ?? spans[0]

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
 * The end of the billing period that runs now. Before the first period it is that one's start, and in a trial at the start its end, where
 * invoices begin; after the last, now: then nothing is billed any more. `schedules` are in the order of time, and one at least.
 */
export async function currentPeriodEnd(
  uow: ReadUow,
  subscription: Subscription,
  schedules: readonly Schedule[],
): Promise<Instant> {
  const first = schedules[0]
  if (!first) return uow.now
  if (uow.now < at(first.start_at)) return at(first.start_at)
  const charged = schedules.find(({ type }) => type !== 'TRIAL')
  if (charged && uow.now < at(charged.start_at)) return at(charged.start_at)
  const zone = await zoneOfSubscription(uow, subscription)
  return billingPeriodOf({ subscription, schedules, zone }, uow.now)?.covered.end ?? uow.now
}

type Cut = {
  readonly subscription: Pick<Subscription, 'billing_anchor' | 'billing_period' | 'billing_time'>
  /** In the order of time. */
  readonly schedules: readonly Pick<
    Schedule,
    'start_at' | 'end_at' | 'realign_invoice_date_to_pricing_plan_schedule_start_at'
  >[]
  readonly zone: Zone
}

/** The billing period that a time is in; null outside of the schedules. Pure. */
export function billingPeriodOf({ subscription, schedules, zone }: Cut, time: Instant): BillingPeriod | null {
  const first = schedules[0]
  const last = schedules.at(-1)
  if (!first || !last) return null
  const span: Span = { start: at(first.start_at), end: last.end_at === null ? null : at(last.end_at) }
  const realigned = schedules.filter(each => each.realign_invoice_date_to_pricing_plan_schedule_start_at)
  const parts = alignedSpans(
    subscription,
    span,
    realigned.map(({ start_at }) => start_at),
  )
  const part = alignedSpanAt(parts, time)
  const { billing_period: length, billing_time: billingTime } = subscription
  return billingPeriodAt({ length, billingTime, zone, anchor: part.anchor }, part.span, time)
}
