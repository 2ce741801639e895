// Pausing: a subscription stays ACTIVE and is not billed for a time, after which it runs on (semantics 4.1).
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Subscription } from '../table.ts'

type Pause = Subscription['inactive_periods'][number]
/** Canonical times. */
export type PauseRequest = { readonly start_at?: string; readonly end_at?: string | null }

/**
 * Pauses an ACTIVE subscription from `start_at` (now, unless given) to `end_at` (until it is resumed, unless given). Throws
 * INVALID_FIELD for a time that has passed or that another pause has, INVALID_OPERATION for a subscription that does not run.
 */
export async function pauseSubscription(uow: Uow, idOrReference: string, request: PauseRequest): Promise<Subscription> {
  const subscription = await lockRunning(uow, idOrReference)
  const now = formatInstant(uow.now)
  const start_at = request.start_at ?? now
  const end_at = request.end_at ?? null
  if (start_at < now) {
    const message = 'start_at must not lie in the past: what has been used is billed. Leave it out to pause at once.'
    throw new AppError('INVALID_FIELD', message, { field: 'start_at' })
  }
  if (end_at !== null && end_at <= start_at)
    throw new AppError('INVALID_FIELD', 'end_at must be after start_at.', { field: 'end_at' })
  const { cancelled_at, inactive_periods } = subscription
  if (cancelled_at !== null && cancelled_at <= start_at) {
    const message = `The subscription ends at ${cancelled_at}, before the pause would start.`
    throw new AppError('INVALID_FIELD', message, { field: 'start_at' })
  }
  const other = inactive_periods.find(
    each =>
      isPause(each) &&
      (end_at === null || each.start_at < end_at) &&
      (endOf(each) === null || start_at < (endOf(each) ?? '')),
  )
  if (other) {
    const message = `It overlaps the pause from ${other.start_at}${endOf(other) === null ? '' : ` to ${endOf(other)}`}; resume that one first.`
    throw new AppError('INVALID_FIELD', message, { field: 'start_at' })
  }
  const pauses = [...inactive_periods.filter(isPause), { type: 'PAUSE' as const, start_at, end_at }]
  return await savePauses(uow, subscription, pauses)
}

/** Ends the pause that runs, now; without one, takes back the one that would start next. Throws INVALID_OPERATION when there is none. */
export async function resumeSubscription(uow: Uow, idOrReference: string): Promise<Subscription> {
  const subscription = await lockRunning(uow, idOrReference)
  const now = formatInstant(uow.now)
  const pauses = subscription.inactive_periods.filter(isPause)
  const ahead = pauses.filter(each => endOf(each) === null || (endOf(each) ?? '') > now)
  const [next] = ahead.toSorted((a, b) => (a.start_at < b.start_at ? -1 : 1))
  if (!next) {
    throw new AppError('INVALID_OPERATION', 'The subscription is not paused, and no pause lies ahead.', {
      resourceId: subscription.id,
      resourceType: subscriptionResource.objectType,
    })
  }
  const others = pauses.filter(each => each !== next)
  return await savePauses(uow, subscription, next.start_at < now ? [...others, { ...next, end_at: now }] : others)
}

const isPause = ({ type }: Pause): boolean => type === 'PAUSE'
const endOf = ({ end_at }: Pause): string | null => end_at ?? null

async function lockRunning(uow: Uow, idOrReference: string): Promise<Subscription> {
  const subscription = await lockOne(uow, subscriptionResource, idOrReference)
  if (!subscription) throw notFound(subscriptionResource, idOrReference)
  if (subscription.type === 'BILLING' && subscription.status === 'ACTIVE') return subscription
  const state = subscription.type === 'BILLING' ? subscription.status : `a ${subscription.type}`
  throw new AppError(
    'INVALID_OPERATION',
    `The subscription is ${state}; only one that is ACTIVE is paused or resumed.`,
    {
      resourceId: subscription.id,
      resourceType: subscriptionResource.objectType,
    },
  )
}

const savePauses = (uow: Uow, subscription: Subscription, pauses: readonly Pause[]): Promise<Subscription> =>
  saveChange(uow, subscriptionResource, subscription, {
    inactive_periods: [
      ...pauses.toSorted((a, b) => (a.start_at < b.start_at ? -1 : 1)),
      ...subscription.inactive_periods.filter(each => !isPause(each)),
    ],
    // What is billed changes, so billing looks now.
    next_billing_at: formatInstant(uow.now),
  })
