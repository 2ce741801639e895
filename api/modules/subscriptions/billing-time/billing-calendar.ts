// Where the billing periods of a subscription are cut: at local midnights, counted from its billing anchor or else from its first
// schedule (semantics 0.4, 4.4).

import { and, asc, eq, sql } from 'drizzle-orm'
import { movedZone, type Zone, type ZoneBefore, zoneOf } from '../../../../shared/billing/local-days.ts'
import {
  aboutDaysOf,
  type BillingPeriod,
  billingPeriodAt,
  type PeriodLength,
  type Span,
} from '../../../../shared/billing/periods.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { extensionsOf } from '../../../resource/rules.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { platformResource } from '../../parties/platforms/platform.ts'
import { type Schedule, type Subscription, schedules, subscriptions } from '../table.ts'
import { BILLED_CUSTOMER, billedCustomerOf } from '../variants.ts'
import { ISSUED_ZONES, type IssuedZone } from './issued-zones.ts'

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
export const alignedSpanAt = <S extends AlignedSpan>(spans: readonly [S, ...S[]], instant: Instant): S =>
  spans.findLast(({ span }) => span.start <= instant) ?? spans[0]

/** Time that is invoiced by periods of one length. */
export type InvoicedSpan = AlignedSpan & { readonly length: PeriodLength }

type OwnPeriod = Pick<Schedule, 'start_at' | 'billing_period'>

/** The shorter of the schedule's own period and that of the subscription. */
const invoicedLength = (ofSubscription: PeriodLength, { billing_period: own }: OwnPeriod): PeriodLength =>
  own !== null && aboutDaysOf(own) < aboutDaysOf(ofSubscription) ? own : ofSubscription

/**
 * The parts of a subscription's time, each with the length of the periods that it is invoiced by: that of the subscription, or of the
 * schedule where that is shorter. A change of the length begins a part. `schedules` are in the order of time. Pure.
 */
export function invoicedSpans(
  { billing_period: length }: Pick<Subscription, 'billing_period'>,
  aligned: readonly [AlignedSpan, ...AlignedSpan[]],
  schedules: readonly OwnPeriod[],
): [InvoicedSpan, ...InvoicedSpan[]] {
  const lengths = schedules.map(each => ({ start: at(each.start_at), length: invoicedLength(length, each) }))
  const changes = lengths.filter(({ length }, index) => {
    const before = lengths[index - 1]?.length
    return before !== undefined && (before.type !== length.type || before.value !== length.value)
  })
  const lengthAt = (time: Instant) => (lengths.findLast(({ start }) => start <= time) ?? lengths[0])?.length ?? length
  const [first, ...others] = aligned.flatMap(({ span, anchor }) => {
    const within = changes.filter(({ start }) => start > span.start && (span.end === null || start < span.end))
    const starts = [span.start, ...within.map(({ start }) => start)]
    return starts.map((start, index) => ({
      span: { start, end: starts[index + 1] ?? span.end },
      anchor,
      length: lengthAt(start),
    }))
  })
  if (!first) throw new Error('a subscription has some time')
  return [first, ...others]
}

const zoneNamed = (name: string): Zone => zoneOf(name) ?? unknownZone(name)
function unknownZone(name: string): never {
  throw new Error(`not a stored time zone: ${name}`)
}

/**
 * The zone of now after those that issued invoices were in. Each billing period keeps its ends up to the end of the one after the last that
 * was invoiced, since that may be charged ahead. So none is invoiced twice, and no time is left out. `endOf`: when the billing period ends
 * that a time is in.
 */
export function zoneAfterMoves(
  issued: readonly IssuedZone[],
  now: Zone,
  endOf: (time: Instant, zone: Zone) => Instant,
): Zone {
  const before: ZoneBefore[] = []
  for (const { timezone, cutoff_at } of issued) {
    const zone = zoneNamed(timezone)
    before.push({ zone, until: endOf(at(cutoff_at), movedZone(before, zone)) })
  }
  return movedZone(before, now)
}

/**
 * The zone days are cut in: of the customer that gets the invoices, else of the billing entity, else of the platform, else UTC; after those
 * that its issued invoices were in.
 */
export async function zoneOfSubscription(uow: ReadUow, subscription: Subscription): Promise<Zone> {
  const customerId = billedCustomerOf(subscription)
  const customer = customerId === null ? null : await getOne(uow, customerResource, customerId)
  const entity = await getOne(uow, billingEntityResource, subscription.billing_entity_id)
  const platform = await getOne(uow, platformResource, uow.tenant.platformId)
  const name: string = customer?.timezone ?? entity.timezone ?? platform.timezone ?? 'UTC'
  const zone = zoneNamed(name)
  const [issuedZones] = extensionsOf(uow, ISSUED_ZONES)
  const issued = (await issuedZones?.(uow, [[subscription.id, zone]]))?.get(subscription.id)
  return issued ? await zoneAfter(uow, { subscription, issued, zone }) : zone
}

/** The same of many subscriptions that have a customer. */
export async function zonesOfSubscriptions(
  uow: ReadUow,
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, Zone>> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: Id<'ppsu'>; zone: string | null }>(sql`
    select s.id, coalesce(c.timezone, e.timezone, p.timezone) as zone
    from pricing_plan_subscriptions s
    join customers c on c.platform_id = s.platform_id and c.environment = s.environment and c.id = ${BILLED_CUSTOMER}
    join billing_entities e on e.platform_id = s.platform_id and e.environment = s.environment and e.id = s.billing_entity_id
    join platforms p on p.platform_id = s.platform_id and p.environment = s.environment
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.id in ${[...new Set(subscriptionIds)]}`)
  return await zonesAfterMoves(uow, new Map(rows.map(({ id, zone }) => [id, zoneNamed(zone ?? 'UTC')])))
}

/** By subscription, the zone of its parties; of those that moved, after the zones that issued invoices were in. */
export async function zonesAfterMoves(
  uow: ReadUow,
  zones: ReadonlyMap<Subscription['id'], Zone>,
): Promise<ReadonlyMap<string, Zone>> {
  const [issuedZones] = extensionsOf(uow, ISSUED_ZONES)
  const left = (await issuedZones?.(uow, [...zones])) ?? new Map<string, IssuedZone[]>()
  const after = new Map<string, Zone>(zones)
  for (const [id, zone] of zones) {
    const issued = left.get(id)
    if (!issued) continue
    const { billing_anchor, billing_period, billing_time } = subscriptions
    const [terms] = await uow.tx
      .select({ id: subscriptions.id, billing_anchor, billing_period, billing_time })
      .from(subscriptions)
      .where(and(inThisTenant(uow, subscriptions), eq(subscriptions.id, id)))
    if (terms) after.set(id, await zoneAfter(uow, { subscription: terms, issued, zone }))
  }
  return after
}

type Moved = {
  readonly subscription: Cut['subscription'] & Pick<Subscription, 'id'>
  readonly issued: readonly IssuedZone[]
  readonly zone: Zone
}

async function zoneAfter(uow: ReadUow, { subscription, issued, zone }: Moved): Promise<Zone> {
  const active = await activeSchedules(uow, subscription)
  return zoneAfterMoves(
    issued,
    zone,
    (time, left) => billingPeriodOf({ subscription, schedules: active, zone: left }, time)?.full.end ?? time,
  )
}

/** In the order of time. */
const activeSchedules = async (uow: ReadUow, { id }: Pick<Subscription, 'id'>): Promise<Schedule[]> =>
  await uow.tx
    .select()
    .from(schedules)
    .where(
      and(inThisTenant(uow, schedules), eq(schedules.pricing_plan_subscription_id, id), eq(schedules.status, 'ACTIVE')),
    )
    .orderBy(asc(schedules.start_at))

/**
 * The end of the billing period that runs now, of the schedule that runs where that has one of its own. Before the first period it is that
 * one's start, and in a trial at the start its end, where invoices begin; after the last, now: then nothing is billed any more. `schedules`
 * are in the order of time, and one at least.
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
  const running = schedules.find(
    ({ start_at, end_at }) => at(start_at) <= uow.now && (end_at === null || uow.now < at(end_at)),
  )
  const billed = { ...subscription, billing_period: running?.billing_period ?? subscription.billing_period }
  return billingPeriodOf({ subscription: billed, schedules, zone }, uow.now)?.covered.end ?? uow.now
}

type Cut = {
  readonly subscription: Pick<Subscription, 'billing_anchor' | 'billing_period' | 'billing_time'>
  /** In the order of time. */
  readonly schedules: readonly Pick<
    Schedule,
    'start_at' | 'end_at' | 'billing_period' | 'realign_invoice_date_to_pricing_plan_schedule_start_at'
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
  const part = alignedSpanAt(invoicedSpans(subscription, parts, schedules), time)
  const { length, anchor } = part
  return billingPeriodAt({ length, billingTime: subscription.billing_time, zone, anchor }, part.span, time)
}
