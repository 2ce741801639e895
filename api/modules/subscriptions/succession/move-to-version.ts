// A subscription that is moved from one plan version to another while it runs: by a migration of all subscriptions of a version.
import type { Uow } from '../../../../shared/database/database.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { currentPeriodEnd } from '../billing-calendar.ts'
import { listSchedules, scheduleResource } from '../schedules/schedule.ts'
import { activateSchedule } from '../schedules/schedule-commands.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Schedule, Subscription } from '../table.ts'
import { migrateSchedule } from './succeed-schedule.ts'

export type VersionMove = {
  readonly from_pricing_plan_version_id: string
  readonly pricing_plan_version_id: string
  readonly type: 'IMMEDIATE' | 'IMMEDIATE_PRO_RATA' | 'NEXT_BILLING_PERIOD'
  /** Null: now, or the end of the billing period. */
  readonly start_at: string | null
  readonly coupon_discount_behaviour: 'NONE' | 'CARRY_OVER'
}
/** The new schedule, and what is left on the old version; or why there is nothing to move. */
export type MovedSubscription =
  | { readonly schedule: Schedule; readonly left: string | null }
  | { readonly skipped: string }

/**
 * Ends the schedule that is on the old version where the new one starts, and activates that: with the terms that `migrate` keeps. With
 * IMMEDIATE_PRO_RATA what the old one charged ahead is credited for the days left. Throws what activating the schedule refuses.
 */
export async function moveToVersion(uow: Uow, id: string, move: VersionMove): Promise<MovedSubscription> {
  const subscription = await lockOne(uow, subscriptionResource, id)
  if (!subscription) throw notFound(subscriptionResource, id)
  if (subscription.status !== 'ACTIVE') return { skipped: `The subscription is ${subscription.status}.` }
  const planned = await listSchedules(uow, subscription.id)
  const all = planned.filter(({ status }) => status === 'ACTIVE')
  const start = await startOf(uow, { subscription, all, move })
  const current = all.find(each => each.start_at < start && (each.end_at === null || start < each.end_at))
  const { cancelled_at: ends } = subscription
  if (ends !== null && ends <= start) return { skipped: `The subscription ends at ${ends}, before the move.` }
  if (current?.pricing_plan_version_id !== move.from_pricing_plan_version_id)
    return { skipped: `No schedule of the version is in force at ${start}, when the subscription would move.` }
  if (current.type === 'TRIAL')
    return { skipped: `It is in a trial until ${current.end_at ?? 'further notice'}; move it when that has ended.` }
  await saveChange(uow, scheduleResource, current, {
    end_at: start,
    refund_advance_charges: move.type === 'IMMEDIATE_PRO_RATA',
  })
  const { pricing_plan_version_id, coupon_discount_behaviour } = move
  const made = await migrateSchedule(
    uow,
    current.id,
    { pricing_plan_version_id, coupon_discount_behaviour, start_at: start, end_at: current.end_at },
    { setPreviousEndAt: false, setNextStartAt: false },
  )
  return { schedule: await activateSchedule(uow, made.id), left: leftBehind(planned, { start, move }) }
}

/** Names the later schedules that stay on the old version. */
function leftBehind(
  planned: readonly Schedule[],
  { start, move }: Pick<Start, 'move'> & { start: string },
): string | null {
  const later = planned.filter(
    each => each.start_at >= start && each.pricing_plan_version_id === move.from_pricing_plan_version_id,
  )
  if (later.length === 0) return null
  const named = later.map(({ id, start_at }) => `${id} from ${start_at} on`).join(', ')
  return `It has later schedules that stay on the old version: ${named}. Migrate the version again once they have started.`
}

type Start = { readonly subscription: Subscription; readonly all: readonly Schedule[]; readonly move: VersionMove }

async function startOf(uow: Uow, { subscription, all, move }: Start): Promise<string> {
  const now = formatInstant(uow.now)
  // When the time that was previewed has passed, it moves at once.
  if (move.type !== 'NEXT_BILLING_PERIOD') return move.start_at !== null && move.start_at > now ? move.start_at : now
  const running = all.find(each => each.start_at <= now && (each.end_at === null || now < each.end_at))
  const billed = { ...subscription, billing_period: running?.billing_period ?? subscription.billing_period }
  return formatInstant(await currentPeriodEnd(uow, billed, all))
}
