// Ends the subscription whose place a new one takes, when the new one is activated.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { listSchedules } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Subscription } from '../table.ts'
import { endSubscription } from './cancel-subscription.ts'
import { endedAt } from './inactive-periods.ts'
import { endsWithTerm } from './subscription-term.ts'
import { requireSameCustomer, successorOf, UPGRADED_FROM } from './upgrade-subscription.ts'

/**
 * Ends the named subscription where the new one starts, also when that has passed: no time is charged by both. What it charged ahead for
 * the time after that is credited. Throws INVALID_FIELD for one of another customer, INVALID_OPERATION for one that ends otherwise.
 */
export async function endUpgraded(uow: Uow, subscription: Subscription): Promise<void> {
  const { [UPGRADED_FROM]: id } = subscription
  if (id === null) return
  const old = await lockOne(uow, subscriptionResource, id)
  if (!old) throw notFound(subscriptionResource, id, UPGRADED_FROM)
  // Both may have changed since the one named the other.
  requireSameCustomer(subscription, old)
  const [first] = await listSchedules(uow, subscription.id)
  const end = first?.start_at ?? formatInstant(uow.now)
  const obstacle = await obstacleTo(uow, old, end)
  if (obstacle !== null)
    throw new AppError('INVALID_OPERATION', `The subscription ${id} ${obstacle}.`, {
      field: UPGRADED_FROM,
      resourceId: id,
      resourceType: subscriptionResource.objectType,
    })
  await endSubscription(uow, old, {
    ...endedAt(old, end, { type: 'UPGRADE', refund: true }),
    cancelled_at: end,
    upgraded_to_pricing_plan_subscription_id: subscription.id,
  })
}

/**
 * When this subscription starts, if it takes the place of another one and starts after `end`; otherwise null. Until it starts, the other one
 * is billed, so a successor that started at `end` would charge those days a second time.
 */
export async function startAfter(uow: Uow, subscription: Subscription, end: string): Promise<string | null> {
  if (subscription[UPGRADED_FROM] === null) return null
  const [first] = await listSchedules(uow, subscription.id)
  return first && first.start_at > end ? first.start_at : null
}

/** Why nothing can take the place of the subscription then, as the end of a sentence; null when something can. */
async function obstacleTo(uow: Uow, old: Subscription, end: string): Promise<string | null> {
  const { status, cancelled_at: ends, inactive_periods } = old
  const clear = `so nothing can take its place at ${end}; clear ${UPGRADED_FROM}`
  if (status !== 'ACTIVE') return `is ${status}, ${clear}`
  const successor = await successorOf(uow, old)
  if (successor !== null) return `gives way to the subscription ${successor}, ${clear}`
  const waits = await startAfter(uow, old, end)
  if (waits !== null)
    return `takes the place of the subscription ${old[UPGRADED_FROM]} at ${waits}, which runs on until then; have this one start then or later`
  if (ends === null) return null
  if (ends <= end || ends <= formatInstant(uow.now)) return `ends at ${ends}, ${clear}`
  // That would be lost. The end of a term that is not renewed follows from its terms again.
  const isCancelled = inactive_periods.some(({ type }) => type === 'CANCEL')
  return isCancelled && (old.auto_renewal || !(await endsWithTerm(uow, old)))
    ? `is cancelled for ${ends}; take that back first, by cancel with the type UNDO`
    : null
}
