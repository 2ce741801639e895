// Cancelling: when a subscription stops being billed (semantics 4.1). inactive_periods says it from the moment of the call;
// the status follows when the time has come.
import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at, formatInstant, type Instant } from '../../../../shared/time.ts'
import { emitAll } from '../../../outbox.ts'
import { saveChange, saveChanges } from '../../../resource/commands.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { currentPeriodEnd } from '../billing-time/billing-calendar.ts'
import { listSchedules } from '../schedules/schedule.ts'
import type { CancelBody } from '../schema.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Subscription } from '../table.ts'
import { followZones } from './follow-zone.ts'
import { endedAt, runningOn } from './inactive-periods.ts'
import { endByItself, endsWithTerm, termEndOf } from './subscription-term.ts'
import { refuseUpgraded } from './upgrade-subscription.ts'

type CancelRequest = Static<typeof CancelBody>

/** Cancels an ACTIVE subscription, moves a pending cancellation, or with UNDO takes it back before it takes effect. */
export async function cancelSubscription(
  uow: Uow,
  idOrReference: string,
  request: CancelRequest,
): Promise<Subscription> {
  const subscription = await lockOne(uow, subscriptionResource, idOrReference)
  if (!subscription) throw notFound(subscriptionResource, idOrReference)
  requireCancellable(subscription, request, formatInstant(uow.now))
  await refuseUpgraded(uow, subscription)
  if (request.cancel_at !== undefined && request.type !== 'DATE') {
    throw new AppError('INVALID_FIELD', 'Only a cancellation of type DATE takes cancel_at.', { field: 'cancel_at' })
  }
  if (request.type === 'UNDO' && request.refund_advance_charges !== undefined) {
    const message = 'UNDO takes a cancellation back, so it refunds nothing; leave refund_advance_charges out.'
    throw new AppError('INVALID_FIELD', message, { field: 'refund_advance_charges' })
  }
  if (request.type === 'UNDO') return await undoCancellation(uow, subscription)
  const cancelledAt = await timeOf(uow, subscription, request)
  const ending = endedAt(subscription, cancelledAt, { refund: request.refund_advance_charges ?? false })
  if (isDeepStrictEqual(ending.inactive_periods, subscription.inactive_periods)) return subscription
  return await endSubscription(uow, subscription, { ...ending, cancelled_at: cancelledAt })
}

/**
 * Moves ACTIVE subscriptions whose cancellation has taken effect to CANCELLED, and returns all of them, in their order, as they then are.
 * The caller holds their locks.
 */
export async function settleCancellations(uow: Uow, subscriptions: readonly Subscription[]): Promise<Subscription[]> {
  const settled = new Map(subscriptions.map(each => [each.id, each]))
  const set = (all: readonly Subscription[]) => {
    for (const each of all) settled.set(each.id, each)
  }
  const overOf = (all: readonly Subscription[]) => all.filter(each => isOver(each, uow.now))
  set(await followZones(uow, overOf(subscriptions)))
  const endings = overOf([...settled.values()]).flatMap(subscription => {
    const { cancelled_at } = subscription
    return cancelled_at === null ? [] : [{ subscription, values: { cancelled_at } }]
  })
  set(await endSubscriptions(uow, endings))
  return [...settled.values()]
}

const isOver = ({ status, cancelled_at }: Subscription, now: Instant): boolean =>
  status === 'ACTIVE' && cancelled_at !== null && at(cancelled_at) <= now

type Ending = {
  readonly subscription: Subscription
  readonly values: Partial<Subscription> & { readonly cancelled_at: string }
}

/** Saves when it ends and, when that time has come, the status with it. The open invoice ends elsewhere now, so billing looks. */
export async function endSubscription(
  uow: Uow,
  subscription: Subscription,
  values: Ending['values'],
): Promise<Subscription> {
  const [row] = await endSubscriptions(uow, [{ subscription, values }])
  return row ?? subscription
}

async function endSubscriptions(uow: Uow, endings: readonly Ending[]): Promise<Subscription[]> {
  const now = formatInstant(uow.now)
  const isDue = ({ cancelled_at }: Pick<Subscription, 'cancelled_at'>): boolean =>
    cancelled_at !== null && cancelled_at <= now
  const saved = await saveChanges(
    uow,
    subscriptionResource,
    endings.map(({ subscription, values }) => ({
      previous: subscription,
      values: { ...values, ...(isDue(values) ? { status: 'CANCELLED' } : {}), next_billing_at: now },
    })),
  )
  const ended = saved.filter(({ row }) => isDue(row))
  await emitAll(
    uow,
    ended.map(({ row, view }) => ({
      type: 'PRICING_PLAN_SUBSCRIPTION.CANCELLED',
      objectId: row.id,
      data: view,
      previous: null,
    })),
  )
  return saved.map(({ row }) => row)
}

function requireCancellable(subscription: Subscription, { type }: CancelRequest, now: string): void {
  if (subscription.type !== 'BILLING') {
    const message = `A ${subscription.type} is not billed, so it is not cancelled either; archive it instead.`
    throw new AppError('INVALID_OPERATION', message, {
      resourceId: subscription.id,
      resourceType: subscriptionResource.objectType,
    })
  }
  const over = subscription.cancelled_at !== null && subscription.cancelled_at <= now
  if (subscription.status === 'ACTIVE' && !over) return
  const state =
    over && subscription.status !== 'VOID' ? `cancelled since ${subscription.cancelled_at}` : subscription.status
  const message = `The subscription is ${state}; only an ACTIVE one can be cancelled, or its cancellation taken back.`
  throw new AppError('INVALID_OPERATION', message, {
    ...(type === 'UNDO' ? { field: 'type' } : {}),
    resourceId: subscription.id,
    resourceType: subscriptionResource.objectType,
  })
}

async function undoCancellation(uow: Uow, subscription: Subscription): Promise<Subscription> {
  if (subscription.cancelled_at === null) {
    throw new AppError('INVALID_OPERATION', 'There is no cancellation to take back.', { field: 'type' })
  }
  const ends = await endByItself(uow, subscription)
  const isByTerm = ends !== null && (await endsWithTerm(uow, subscription))
  const ending =
    ends === null
      ? runningOn(subscription)
      : endedAt(subscription, isByTerm ? subscription.cancelled_at : formatInstant(ends), { byTerm: true })
  if (isByTerm && !subscription.inactive_periods.some(period => period.refund_advance_charges === true)) {
    const message = 'It ends with its term, since it is not renewed. To let it run on, PATCH auto_renewal to true.'
    throw new AppError('INVALID_OPERATION', message, { field: 'type' })
  }
  return await saveChange(uow, subscriptionResource, subscription, {
    ...ending,
    upgraded_to_pricing_plan_subscription_id: null,
    next_billing_at: formatInstant(uow.now),
  })
}

async function timeOf(uow: Uow, subscription: Subscription, request: CancelRequest): Promise<string> {
  switch (request.type) {
    case 'NOW':
      return formatInstant(uow.now)
    case 'NEXT_BILLING_PERIOD': {
      const active = (await listSchedules(uow, subscription.id)).filter(schedule => schedule.status === 'ACTIVE')
      return formatInstant(await currentPeriodEnd(uow, subscription, active))
    }
    case 'AFTER_INITIAL_TERM': {
      const end = await termEndOf(uow, subscription)
      if (end !== null) return formatInstant(end)
      const message = 'The subscription has no initial_term; use NEXT_BILLING_PERIOD or DATE.'
      throw new AppError('INVALID_OPERATION', message, { field: 'type' })
    }
    default:
      return dateOf(request.cancel_at, formatInstant(uow.now))
  }
}

function dateOf(cancelAt: string | undefined, now: string): string {
  if (cancelAt === undefined) throw new AppError('MISSING_FIELD', 'DATE needs cancel_at.', { field: 'cancel_at' })
  if (cancelAt > now) return cancelAt
  throw new AppError('INVALID_FIELD', 'cancel_at must lie ahead; to cancel at once, use NOW.', { field: 'cancel_at' })
}
