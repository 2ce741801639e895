// `change-plan`: a subscription moves to another plan of its plan group, or to another billing period of its plan (contract:
// Change-plan rules).
import { and, arrayContains, eq, ne } from 'drizzle-orm'
import type { Static } from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { createResource, saveChange, saveRemoval } from '../../../resource/commands.ts'
import { isListed } from '../../../resource/is-listed.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type PricingPlanGroup, pricingPlanGroups } from '../../catalog/pricing-plan-groups/table.ts'
import { pricingPlanResource } from '../../catalog/pricing-plans/pricing-plan.ts'
import { pricingPlans } from '../../catalog/pricing-plans/table.ts'
import { termsOf } from '../../catalog/pricing-plans/variants/variants.ts'
import { SUBMITS } from '../approvals/guards.ts'
import { currentPeriodEnd } from '../billing-time/billing-calendar.ts'
import { wakeBilling } from '../billing-time/next-billing.ts'
import { carriedOwnVersion } from '../own-prices/carried-own-prices.ts'
import { isWithoutPlan } from '../own-prices/show-own-prices.ts'
import { namedVersion } from '../schedules/named-version.ts'
import { listSchedules, scheduleResource } from '../schedules/schedule.ts'
import { activateSchedule, statusBefore } from '../schedules/schedule-commands.ts'
import { subscriptionResource } from '../subscription.ts'
import { refundsAdvanceCharges } from '../succession/move-type.ts'
import { overridesInVersion } from '../succession/overrides-in-version.ts'
import type { Schedule, Subscription } from '../table.ts'
import { type PlanMove, planMove } from './plan-move.ts'
import type { ChangePlanBody } from './schema.ts'

type Request = Static<typeof ChangePlanBody>

/**
 * Ends the schedule that runs and activates one on the LATEST version of the plan, with nothing of the old one but its currency, its
 * billing period and, on the same plan, its overrides and its own prices. But for IMMEDIATE, what the old one charged ahead is credited for the days left.
 * In a trial it replaces what follows. Of two at once the second is judged by what the first has done. Throws
 * INVALID_OPERATION, INVALID_FIELD or RESOURCE_NOT_FOUND.
 */
export async function changePlan(uow: Uow, idOrReference: string, request: Request): Promise<Schedule> {
  const subscription = await lockOne(uow, subscriptionResource, idOrReference)
  if (!subscription) throw notFound(subscriptionResource, idOrReference)
  requireRunning(subscription)
  const all = await listSchedules(uow, subscription.id)
  const now = formatInstant(uow.now)
  const current = runningAt(all, request.start_at ?? now)
  const replaced = afterTrial(all, current)
  // What the move is from: in a trial, the prices that follow it.
  const sold = replaced[0] ?? current
  const move = await moveOf(uow, { subscription, current: sold, request })
  const start_at = await startOf(uow, { subscription, move, request, now })
  if (subscription.cancelled_at !== null && subscription.cancelled_at <= start_at) {
    const message = `The subscription ends at ${subscription.cancelled_at}, before the new plan would start; take the cancellation back first.`
    throw new AppError('INVALID_OPERATION', message, {
      resourceId: subscription.id,
      resourceType: 'PRICING_PLAN_SUBSCRIPTION',
    })
  }
  const end_at = endOf(all, { current, replaced, start: start_at })
  // Whose end the new one has.
  const ended = replaced.at(-1) ?? current
  const version = await namedVersion(uow, {
    pricing_plan_version_selector: { pricing_plan_id: request.pricing_plan_id },
  }).catch(asPlan(request))
  if (!version) throw notFound(pricingPlanResource, request.pricing_plan_id, 'pricing_plan_id')
  for (const each of replaced.toReversed()) await saveRemoval(uow, scheduleResource, each)
  if (start_at !== current.end_at)
    await saveChange(uow, scheduleResource, current, {
      end_at: start_at,
      refund_advance_charges: refundsAdvanceCharges(move.type),
    })
  const billing_period = request.billing_period ?? sold.billing_period
  const terms = termsOf({ ...sold, billing_period }, subscription)
  const made = await createResource(uow, scheduleResource, {
    pricing_plan_subscription_id: subscription.id,
    pricing_plan_id: version.pricing_plan_id,
    pricing_plan_version_id: version.id,
    start_at,
    end_at,
    ...statusBefore(
      all.filter(each => !replaced.includes(each)),
      start_at,
    ),
    pricing_currency: sold.pricing_currency,
    ...(billing_period === null ? {} : { billing_period }),
    // Another billing period of the plan continues it: what is sold once is not charged again, and `persist` counts on.
    carries_usage: version.pricing_plan_id === sold.pricing_plan_id,
    ended_by_next: ended.ended_by_next && end_at === ended.end_at,
    override_pricings: await overridesInVersion(uow, sold, { version, start: start_at, terms }),
    own_pricing_plan_version_id: carriedOwnVersion(sold, version),
  }).catch(asPlan(request))
  if (made.status === 'ACTIVE') await wakeBilling(uow, subscription)
  return await activateSchedule(uow, made.id).catch(asPlan(request))
}

function requireRunning(subscription: Subscription): void {
  if (subscription.type === 'BILLING' && subscription.status === 'ACTIVE') return
  const state = subscription.type === 'BILLING' ? subscription.status : `a ${subscription.type}`
  throw new AppError('INVALID_OPERATION', `The subscription is ${state}; only one that is ACTIVE changes its plan.`, {
    resourceId: subscription.id,
    resourceType: subscriptionResource.objectType,
  })
}

/** The schedule whose plan is changed: at the moment when a trial ends, the trial. */
function runningAt(all: readonly Schedule[], time: string): Schedule {
  const place = all.findIndex(
    each => each.status === 'ACTIVE' && each.start_at <= time && (each.end_at === null || time < each.end_at),
  )
  const running = all[place]
  const before = all[place - 1]
  if (running && before && running.start_at === time && afterTrial(all, before).includes(running)) return before
  if (running) return running
  throw new AppError(
    'INVALID_OPERATION',
    `No schedule of the subscription is in force at ${time}, so there is no plan to change.`,
    {
      field: 'start_at',
    },
  )
}

/**
 * The ACTIVE schedules of one plan that follow a trial. A change of plan in the trial is judged by that plan and replaces them, since it is
 * what the customer would pay for: also where they are a change that waits, or sell less than the trial.
 */
function afterTrial(all: readonly Schedule[], trial: Schedule): readonly Schedule[] {
  if (trial.type !== 'TRIAL') return []
  const later = all.slice(all.indexOf(trial) + 1)
  const plan = later[0]?.pricing_plan_id
  const other = later.findIndex(({ status, pricing_plan_id }) => status !== 'ACTIVE' || pricing_plan_id !== plan)
  return other < 0 ? later : later.slice(0, other)
}

type Change = { readonly subscription: Subscription; readonly current: Schedule; readonly request: Request }

async function moveOf(uow: Uow, { subscription, current, request }: Change): Promise<PlanMove> {
  const table = pricingPlanGroups
  // Held, so that the group is not changed before the move is done.
  const [group] = await uow.tx
    .select()
    .from(table)
    .where(
      and(
        inThisTenant(uow, table),
        arrayContains(table.pricing_plan_ids, [current.pricing_plan_id]),
        ne(table.status, 'ARCHIVED'),
      ),
    )
    .for('share')
  await requirePlan(uow, idOf('pric', request.pricing_plan_id))
  if (isWithoutPlan(current)) {
    const message = `The schedule ${current.id} has no plan that could change; POST /v1/pricing-plan-schedules/${current.id}/migrate moves the subscription to one.`
    throw new AppError('INVALID_OPERATION', message, {
      field: 'pricing_plan_id',
      resourceId: current.id,
      resourceType: 'PRICING_PLAN_SCHEDULE',
    })
  }
  const billingPeriod = current.billing_period ?? subscription.billing_period
  if (request.billing_period !== undefined && request.pricing_plan_id !== current.pricing_plan_id) {
    const message =
      'billing_period moves a subscription between billing periods of its plan; leave it out to move to another plan.'
    throw new AppError('INVALID_FIELD', message, { field: 'billing_period' })
  }
  const to = { planId: request.pricing_plan_id, billingPeriod: request.billing_period ?? billingPeriod }
  return planMove(
    (group as PricingPlanGroup | undefined) ?? null,
    { planId: current.pricing_plan_id, billingPeriod },
    to,
  )
}

async function requirePlan(uow: Uow, id: Id<'pric'>): Promise<void> {
  const where = and(inThisTenant(uow, pricingPlans), isListed(pricingPlans), eq(pricingPlans.id, id))
  const [plan] = await uow.tx.select({ id: pricingPlans.id }).from(pricingPlans).where(where)
  if (!plan) throw notFound(pricingPlanResource, id, 'pricing_plan_id')
}

async function startOf(
  uow: Uow,
  { subscription, move, request, now }: Omit<Change, 'current'> & { readonly move: PlanMove; readonly now: string },
): Promise<string> {
  if (move.type !== 'NEXT_BILLING_PERIOD') {
    if (request.start_at === undefined || request.start_at >= now) return request.start_at ?? now
    const message =
      'start_at must not lie in the past: that time is billed by the plan it had. Leave it out to change at once.'
    throw new AppError('INVALID_FIELD', message, { field: 'start_at' })
  }
  if (request.start_at !== undefined) {
    const message = `This ${move.direction.toLowerCase()} takes effect at the next invoice date (NEXT_BILLING_PERIOD); leave start_at out.`
    throw new AppError('INVALID_FIELD', message, { field: 'start_at' })
  }
  return formatInstant(await currentPeriodEnd(uow, subscription, await activeSchedules(uow, subscription.id)))
}

const activeSchedules = async (uow: Uow, id: Subscription['id']): Promise<Schedule[]> =>
  (await listSchedules(uow, id)).filter(({ status }) => status === 'ACTIVE')

type Placing = { readonly current: Schedule; readonly replaced: readonly Schedule[]; readonly start: string }

/** The new one takes the place of what was left of the old one, and of what it replaces. Throws when there is nothing of it left then. */
function endOf(all: readonly Schedule[], { current, replaced, start }: Placing): string | null {
  const last = replaced.at(-1)
  if (last && current.start_at < start && current.end_at !== null && start <= current.end_at) return last.end_at
  if (current.start_at >= start) {
    const message = `The schedule ${current.id} starts at ${current.start_at} itself; let the new plan start later.`
    throw new AppError('INVALID_FIELD', message, { field: 'start_at' })
  }
  if (current.end_at === null || start < current.end_at) return current.end_at
  const next = all.find(({ start_at }) => start_at >= start)
  if (!next) return null
  const message = `The schedule ${next.id} follows the one that runs now, from ${next.start_at} on; delete that one first.`
  throw new AppError('INVALID_OPERATION', message, { resourceId: next.id, resourceType: scheduleResource.objectType })
}

/** What is wrong with the version is wrong with the plan that was named, and so is a billing period that the request does not say. */
const asPlan =
  ({ billing_period: given }: Request) =>
  (error: unknown): never => {
    if (!(error instanceof AppError)) throw error
    const named = ['pricing_plan_version_selector', 'pricing_currency', 'pricing_plan_version_id']
    const { field, resourceType } = error.details
    if (field === undefined && resourceType === 'APPROVAL_POLICY') throw asMigration(error)
    if (field === undefined) throw error
    if (given === undefined && field.startsWith('billing_period')) {
      const message = `The subscription keeps its billing period with another plan. ${error.message} Or move to that period within its plan first.`
      throw new AppError(error.code, message, { ...error.details, field: 'pricing_plan_id', cause: error })
    }
    if (!named.some(name => field.startsWith(name))) throw error
    throw new AppError(error.code, error.message, { ...error.details, field: 'pricing_plan_id', cause: error })
  }

/** An approval that the new plan needs, or that cannot be determined, as what keeps the plan that was named from being sold now. */
function asMigration({ code, message, details }: AppError): AppError {
  const way = message.endsWith(SUBMITS)
    ? ' POST /v1/pricing-plan-schedules/{id}/migrate of the schedule that runs makes a DRAFT of the new plan.'
    : ''
  return new AppError(code, `${message}${way}`, { ...details, field: 'pricing_plan_id' })
}
