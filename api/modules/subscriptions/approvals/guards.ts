// No schedule becomes ACTIVE, and no ACTIVE one gets other terms, past the approval policy, whatever call it is (semantics 7). Only
// POST …/activate submits: every other call is refused as a whole, so that nothing is half done.
import { isDeepStrictEqual } from 'node:util'
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { beforeDelete, beforeSave } from '../../../resource/rules.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { activePolicy } from '../../approvals/policies/policy.ts'
import { approvedRequest } from '../../approvals/requests/request.ts'
import { refusePending } from '../schedules/pending-review.ts'
import { listSchedules, scheduleResource } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'
import { type Schedule, type Subscription, schedules } from '../table.ts'
import { addedDiscounts } from './added-discounts.ts'
import { named, requiredApproval } from './review-schedule.ts'
import { discountFacts, factsOf } from './schedule-facts.ts'

/** What of a schedule is among its facts. */
const OF_SCHEDULE = [
  'discount',
  'applied_coupons',
  'commitment',
  'override_pricings',
  'own_pricing_plan_version_id',
  'billing_period',
] as const

/** What of a subscription is among the facts of its schedules, or decides on what they charge. */
const OF_SUBSCRIPTION = [
  'customer_id',
  'forward_customer_id',
  'seller_details',
  'billing_entity_id',
  'billing_period',
  'billing_currency',
  'billing_time',
  'billing_anchor',
  'due_date_configuration',
  'payment_acceptor_ids',
] as const

/** What to do in place of a call that would make a schedule ACTIVE which needs an approval. */
export const SUBMITS = 'POST /v1/pricing-plan-schedules/{id}/activate of a DRAFT submits it; send that instead.'

const differs = <T extends object>(names: readonly (keyof T)[], row: T, previous: T): boolean =>
  names.some(name => !isDeepStrictEqual(row[name] ?? null, previous[name] ?? null))

async function guardSchedule(uow: Uow, row: Schedule, previous: Schedule | null): Promise<void> {
  // Its decision, or taking it back, is what ends it.
  if (previous && row.approval_status === 'PENDING_REVIEW') await refusePending(uow, previous)
  if (row.status !== 'ACTIVE' || previous?.approval_status === 'PENDING_REVIEW') return
  const active = previous?.status === 'ACTIVE' ? previous : null
  // What is moved to other prices is judged as what would be new with them: no facts say what the prices of a plan are.
  const isMoved = active !== null && active.pricing_plan_version_id !== row.pricing_plan_version_id
  if (active && !isMoved && !differs(OF_SCHEDULE, row, active)) return
  const subscription = await getOne(uow, subscriptionResource, row.pricing_plan_subscription_id)
  const required = await requiredApproval(uow, { schedule: row, subscription }, async () =>
    active === null || isMoved
      ? null
      : { facts: await factsOf(uow, active, subscription), added: discountFacts(addedDiscounts(active, row)) },
  )
  if (required === null) return
  const { policy } = required
  const message = active
    ? `The schedule ${row.id} is ACTIVE, and these terms need an approval by the policy ${policy.reference}. Have a schedule with them follow it (POST /v1/pricing-plan-schedules/${row.id}/copy), and activate that.`
    : `The schedule from ${row.start_at} on needs an approval by the policy ${policy.reference}, and this call would make it ACTIVE at once. ${SUBMITS}`
  throw new AppError('INVALID_OPERATION', message, named(policy))
}

async function guardSubscription(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  if (previous === null) return
  const isChanged = differs(OF_SUBSCRIPTION, row, previous)
  if (isChanged) await refuseWhilePending(uow, row)
  const isActivated = row.status === 'ACTIVE' && previous.status === 'DRAFT'
  if (row.status !== 'ACTIVE' || !(isChanged || isActivated)) return
  if ((await activePolicy(uow, 'PRICING_PLAN_SCHEDULE')) === null) return
  const now = formatInstant(uow.now)
  for (const schedule of await listSchedules(uow, row.id)) {
    if (schedule.status !== 'ACTIVE' || (!isActivated && schedule.end_at !== null && schedule.end_at <= now)) continue
    const required = await requiredApproval(uow, { schedule, subscription: row }, async () => {
      if (!isActivated) return { facts: await factsOf(uow, schedule, previous) }
      return await approvedRequest(uow, 'PRICING_PLAN_SCHEDULE', schedule.id)
    })
    if (required === null) continue
    const { policy } = required
    const message = isActivated
      ? `The schedule ${schedule.id} became ACTIVE without an approval that the policy ${policy.reference} requires of it by now. Copy the subscription, and activate the schedules of the copy one by one, which submits them.`
      : `With this change the schedule ${schedule.id} needs an approval by the policy ${policy.reference}, which reviews schedules before they are ACTIVE. Create another subscription, and activate its schedules.`
    throw new AppError('INVALID_OPERATION', message, named(policy))
  }
}

async function refuseWhilePending(uow: Uow, { id }: Subscription): Promise<void> {
  const [pending] = await uow.tx
    .select()
    .from(schedules)
    .where(
      and(
        inThisTenant(uow, schedules),
        eq(schedules.pricing_plan_subscription_id, id),
        eq(schedules.approval_status, 'PENDING_REVIEW'),
      ),
    )
    .limit(1)
  if (pending) await refusePending(uow, pending)
}

export const APPROVAL_GUARDS = [
  beforeSave(scheduleResource, guardSchedule),
  beforeDelete(scheduleResource, (uow, row: Schedule) => refusePending(uow, row, 'COULD_NOT_DELETE_RESOURCE')),
  beforeSave(subscriptionResource, guardSubscription),
] as const
