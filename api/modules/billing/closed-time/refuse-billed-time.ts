// An event is billed once. The schedules in force at its time decide which subscription it belongs to. So a schedule
// may not come into force for time that a FINAL invoice of another subscription has billed: usage would move to it and
// be billed again.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import { lockOne } from '../../../resource/store.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import {
  loadPricedPeriods,
  type PricedPeriod,
  type PricedSchedule,
} from '../../subscriptions/enabled-pricings/priced-periods.ts'
import type { EnabledPricing } from '../../subscriptions/enabled-pricings/schema.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import type { Subscription } from '../../subscriptions/table.ts'
import { IS_ISSUED } from '../late/closed-usage.ts'

/**
 * Throws INVALID_OPERATION when one of these schedules, about to be in force, prices a meter at a time that a FINAL
 * invoice of another of the customer's subscriptions has billed for that meter. Holds the customer's lock until commit.
 * Finalizing an invoice takes the same lock, so neither can miss the other. With `enabling`, the schedules are in force
 * already and are about to have these ADDONs enabled: only what they sell anew counts.
 */
export async function refuseBilledTime(
  uow: Uow,
  subscription: Pick<Subscription, 'id' | 'customer_id'>,
  scheduleIds: readonly string[],
  enabling: readonly EnabledPricing[] | null = null,
): Promise<void> {
  const { customer_id: customerId } = subscription
  // A TEMPLATE has no customer and is never billed.
  if (customerId === null) return
  await lockOne(uow, customerResource, customerId, 'no key update')
  if (scheduleIds.length === 0) return
  const { platformId, environment } = uow.tenant
  const here = (table: string) =>
    sql`${sql.raw(table)}.platform_id = ${platformId} and ${sql.raw(table)}.environment = ${environment}`
  // Most customers have one subscription, and planning the statement below takes longer than all else of a move.
  const others = await uow.tx.execute(sql`
    select from pricing_plan_subscriptions theirs
    where ${here('theirs')} and theirs.customer_id = ${customerId} and theirs.id <> ${subscription.id} limit 1`)
  if (others.rows.length === 0) return
  const { rows } = await uow.tx.execute<Overlap>(sql`
    select theirs.id as other, ${scheduleMembers('mine')} as mine, ${scheduleMembers('h')} as held,
      (extract(epoch from v.period_start) * 1000)::bigint::text as from_ms,
      (extract(epoch from v.period_end) * 1000)::bigint::text as until_ms
    from pricing_plan_schedules mine
    join pricing_plans mine_plan on ${here('mine_plan')} and mine_plan.id = mine.pricing_plan_id
    join pricing_plan_subscriptions theirs on ${here('theirs')} and theirs.customer_id = ${customerId}
      and theirs.id <> ${subscription.id}
    join invoices v on ${here('v')} and v.pricing_plan_subscription_id = theirs.id and ${IS_ISSUED}
      -- One that only charges ahead, or only refunds, collects no usage.
      and v.cutoff_at > v.period_start
      and tstzrange(v.period_start, v.period_end) && tstzrange(mine.start_at, mine.end_at)
    join pricing_plan_schedules h on ${here('h')} and h.pricing_plan_subscription_id = theirs.id and h.status = 'ACTIVE'
      and tstzrange(h.start_at, h.end_at) && tstzrange(mine.start_at, mine.end_at)
      and tstzrange(h.start_at, h.end_at) && tstzrange(v.period_start, v.period_end)
    join pricing_plans h_plan on ${here('h_plan')} and h_plan.id = h.pricing_plan_id
    where ${here('mine')} and mine.id = any(${sql.param(scheduleIds)})
    order by v.period_end desc, h.id`)
  const overlaps = rows.map(({ other, mine, held, from_ms, until_ms }) => ({
    other,
    mine: heldOf(mine),
    held: heldOf(held),
    billed: interval(instantOf(Number(from_ms)), instantOf(Number(until_ms))),
  }))
  const pricesOf = await loadPricedPeriods(
    uow,
    overlaps.flatMap(({ mine, held }) => [mine, held]),
  )
  for (const { other, mine, held, billed } of overlaps) {
    const sold = enabling ? newlyPriced(pricesOf(mine), pricesOf({ ...mine, enabled: enabling })) : pricesOf(mine)
    const meter = sharedMeter(sold, pricesOf(held), billed)
    if (meter !== null) throw billedAlready({ other, meter, until: formatInstant(billed.end) })
  }
}

type ScheduleMembers = {
  readonly subscription_id: string
  readonly card_id: string | null
  readonly version_id: string
  readonly own_version_id: string | null
  readonly enabled: readonly EnabledPricing[]
  readonly start_ms: number
  readonly end_ms: number | null
}
type Overlap = {
  readonly other: string
  readonly mine: ScheduleMembers
  readonly held: ScheduleMembers
  readonly from_ms: string
  readonly until_ms: string
}

/** What decides what a schedule sells, as JSON; its plan has the same name with `_plan`. */
const scheduleMembers = (table: 'mine' | 'h') => {
  const [of, plan] = [sql.raw(table), sql.raw(`${table}_plan`)]
  return sql`jsonb_build_object('subscription_id', ${of}.pricing_plan_subscription_id, 'version_id', ${of}.pricing_plan_version_id,
    'own_version_id', ${of}.own_pricing_plan_version_id,
    'card_id', case when ${plan}.variant = 'RATE_CARD' then ${plan}.id end, 'enabled', ${of}.enabled_pricings,
    'start_ms', (extract(epoch from ${of}.start_at) * 1000)::bigint, 'end_ms', (extract(epoch from ${of}.end_at) * 1000)::bigint)`
}

const heldOf = ({
  subscription_id,
  card_id,
  version_id,
  own_version_id,
  ...schedule
}: ScheduleMembers): PricedSchedule => ({
  subscriptionId: subscription_id,
  cardId: card_id,
  versionId: version_id,
  ownVersionId: own_version_id,
  ...schedule,
})

/** The meters that are priced after a change and were not before it, and when. Both are of the same time. Pure. */
export const newlyPriced = (before: readonly PricedPeriod[], after: readonly PricedPeriod[]): PricedPeriod[] =>
  after.flatMap(now =>
    before.flatMap(then => {
      const start_ms = Math.max(now.start_ms, then.start_ms)
      const ends = [now.end_ms, then.end_ms].filter(end => end !== null)
      const end_ms = ends.length === 0 ? null : Math.min(...ends)
      const meters = now.meters.filter(meter => !then.meters.includes(meter))
      return meters.length === 0 || (end_ms !== null && end_ms <= start_ms)
        ? []
        : [{ ...now, start_ms, end_ms, meters }]
    }),
  )

/** A meter that both price at some moment of a billed time; null when there is none. Pure. */
export function sharedMeter(
  mine: readonly PricedPeriod[],
  held: readonly PricedPeriod[],
  billed: Interval,
): string | null {
  for (const a of mine)
    for (const b of held) {
      const start = Math.max(a.start_ms, b.start_ms, billed.start)
      const end = Math.min(a.end_ms ?? billed.end, b.end_ms ?? billed.end, billed.end)
      const shared = start < end ? a.meters.find(meter => b.meters.includes(meter)) : undefined
      if (shared !== undefined) return shared
    }
  return null
}

function billedAlready({ other, meter, until }: { other: string; meter: string; until: string }): AppError {
  const message =
    `The customer's subscription ${other} has billed the meter ${meter} until ${until} on a FINAL invoice, ` +
    'and an event is billed once. Start at that time or later.'
  return new AppError('INVALID_OPERATION', message, {
    resourceId: other,
    resourceType: subscriptionResource.objectType,
  })
}
