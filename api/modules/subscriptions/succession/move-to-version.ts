// A subscription that is moved from one plan version to another while it runs: by a migration of all subscriptions of a version.
import type { Uow } from '../../../../shared/database/database.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { getOne, lockOne, notFound } from '../../../resource/store.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { currentPeriodEnd } from '../billing-time/billing-calendar.ts'
import { wakeBilling } from '../billing-time/next-billing.ts'
import { checkTerms } from '../schedules/check-terms.ts'
import { listSchedules, scheduleResource } from '../schedules/schedule.ts'
import { activateSchedule, statusBefore } from '../schedules/schedule-commands.ts'
import { requireSellable } from '../schedules/schedule-version.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Schedule, Subscription } from '../table.ts'
import { type MoveType, refundsAdvanceCharges } from './move-type.ts'
import { migrateSchedule } from './succeed-schedule.ts'
import { termsInVersion } from './terms-in-version.ts'

export type VersionMove = {
  readonly from_pricing_plan_version_id: string
  readonly pricing_plan_version_id: string
  readonly type: MoveType
  /** Null: now, or the end of the billing period. */
  readonly start_at: string | null
  readonly coupon_discount_behaviour: 'NONE' | 'CARRY_OVER'
}
/** The first schedule on the new version, and what is left on the old one; or why there is nothing to move. */
export type MovedSubscription =
  | { readonly schedule: Schedule; readonly left: string | null }
  | { readonly skipped: string }
/** Those of these schedules that a FINAL invoice has charged ahead. Modules above know the invoices. */
export type BilledInAdvance = (uow: Uow, scheduleIds: readonly string[]) => Promise<ReadonlySet<string>>

/**
 * Ends the schedule that is on the old version where the new one starts, and activates that: with the terms that `migrate` keeps. But for
 * IMMEDIATE, what the old one charged ahead is credited for the days left. Schedules that start later move where they are, with
 * the same terms and their own coupons; a trial stays, and what follows it moves. Throws what activating a schedule refuses.
 */
export async function moveToVersion(
  uow: Uow,
  id: string,
  move: VersionMove,
  billedInAdvance: BilledInAdvance,
): Promise<MovedSubscription> {
  const subscription = await lockOne(uow, subscriptionResource, id)
  if (!subscription) throw notFound(subscriptionResource, id)
  if (subscription.status !== 'ACTIVE') return { skipped: `The subscription is ${subscription.status}.` }
  const planned = await listSchedules(uow, subscription.id)
  const all = planned.filter(({ status }) => status === 'ACTIVE')
  const start = await startOf(uow, { subscription, all, move })
  const { cancelled_at: ends } = subscription
  if (ends !== null && ends <= start) return { skipped: `The subscription ends at ${ends}, before the move.` }
  const isOnOld = (each: Schedule): boolean => each.pricing_plan_version_id === move.from_pricing_plan_version_id
  const running = all.find(each => each.start_at < start && (each.end_at === null || start < each.end_at))
  const current = running && isOnOld(running) && running.type !== 'TRIAL' ? running : null
  // What is pending review stays as it was submitted.
  const later = planned.filter(
    each => each.start_at >= start && isOnOld(each) && each.approval_status !== 'PENDING_REVIEW',
  )
  if (current === null && later.length === 0) {
    const trial = running?.type === 'TRIAL' && isOnOld(running)
    return {
      skipped: trial
        ? `It is in a trial until ${running.end_at ?? 'further notice'}; move it when that has ended.`
        : `No schedule of the version is in force at ${start}, when the subscription would move, or later.`,
    }
  }
  const next = current && (await replaced(uow, current, { start, move }))
  const fixed = await billedInAdvance(
    uow,
    later.map(each => each.id),
  )
  const moved: Schedule[] = []
  for (const each of later) if (!fixed.has(each.id)) moved.push(await movedInPlace(uow, each, { subscription, move }))
  if (next || moved.length > 0) await wakeBilling(uow, subscription)
  const stay = later.filter(each => fixed.has(each.id))
  const schedule = next ?? moved[0]
  return schedule ? { schedule, left: leftBehind(stay) } : { skipped: leftBehind(stay) ?? 'Nothing is left to move.' }
}

type Replacing = { readonly start: string; readonly move: VersionMove }

/** The ACTIVE schedule on the new version for what is left of this one. */
async function replaced(uow: Uow, current: Schedule, { start, move }: Replacing): Promise<Schedule> {
  await saveChange(uow, scheduleResource, current, {
    end_at: start,
    refund_advance_charges: refundsAdvanceCharges(move.type),
  })
  const { pricing_plan_version_id, coupon_discount_behaviour } = move
  const all = await listSchedules(uow, current.pricing_plan_subscription_id)
  const made = await migrateSchedule(
    uow,
    current.id,
    {
      pricing_plan_version_id,
      coupon_discount_behaviour,
      start_at: start,
      end_at: current.end_at,
      ...statusBefore(all, start),
    },
    { setPreviousEndAt: false, setNextStartAt: false },
  )
  return await activateSchedule(uow, made.id)
}

type Later = { readonly subscription: Subscription; readonly move: VersionMove }

/** A schedule that has billed nothing yet, on the new version. It keeps its dates, its status and its coupons. */
async function movedInPlace(uow: Uow, schedule: Schedule, { subscription, move }: Later): Promise<Schedule> {
  const version = await getOne(uow, pricingPlanVersionResource, move.pricing_plan_version_id)
  const values: Partial<Schedule> = {
    ...(await termsInVersion(uow, schedule, { version, start: schedule.start_at, end: schedule.end_at })),
    pricing_plan_version_selector: null,
  }
  const row = { ...schedule, ...values }
  await requireSellable(uow, row, subscription, schedule.status === 'ACTIVE')
  await checkTerms(uow, row, null)
  return await saveChange(uow, scheduleResource, schedule, values)
}

/** Names the later schedules that stay on the old version. */
function leftBehind(stay: readonly Schedule[]): string | null {
  if (stay.length === 0) return null
  const named = stay.map(({ id, start_at }) => `${id} from ${start_at} on`).join(', ')
  return `FINAL invoices have charged later schedules ahead, so these stay on the old version: ${named}. Migrate the version again once they have started.`
}

type Start = { readonly subscription: Subscription; readonly all: readonly Schedule[]; readonly move: VersionMove }

async function startOf(uow: Uow, { subscription, all, move }: Start): Promise<string> {
  const now = formatInstant(uow.now)
  // When the time that was previewed has passed, it moves at once.
  if (move.type !== 'NEXT_BILLING_PERIOD') return move.start_at !== null && move.start_at > now ? move.start_at : now
  return formatInstant(await currentPeriodEnd(uow, subscription, all))
}
