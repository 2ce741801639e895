// Ends the subscription whose place a new one takes, when the new one is activated.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { endSubscription } from '../cancel-subscription.ts'
import { endedAt } from '../inactive-periods.ts'
import { listSchedules } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Subscription } from '../table.ts'
import { UPGRADED_FROM } from './upgrade-subscription.ts'

/**
 * Ends the named subscription where the new one starts, or now if that has passed: it is billed to the last day, and nothing that it
 * charged ahead is refunded. Throws INVALID_OPERATION unless it is ACTIVE until then.
 */
export async function endUpgraded(uow: Uow, subscription: Subscription): Promise<void> {
  const { [UPGRADED_FROM]: id } = subscription
  if (id === null) return
  const old = await lockOne(uow, subscriptionResource, id)
  if (!old) throw notFound(subscriptionResource, id, UPGRADED_FROM)
  const [first] = await listSchedules(uow, subscription.id)
  const now = formatInstant(uow.now)
  const end = first && first.start_at > now ? first.start_at : now
  const { status, cancelled_at: ends } = old
  if (status !== 'ACTIVE' || (ends !== null && ends <= end)) {
    const state = status === 'ACTIVE' ? `ends at ${ends}` : `is ${status}`
    const message = `The subscription ${id} ${state}, so nothing can take its place at ${end}; clear ${UPGRADED_FROM}.`
    throw new AppError('INVALID_OPERATION', message, {
      field: UPGRADED_FROM,
      resourceId: id,
      resourceType: subscriptionResource.objectType,
    })
  }
  await endSubscription(uow, old, {
    ...endedAt(old, end, { type: 'UPGRADE' }),
    cancelled_at: end,
    upgraded_to_pricing_plan_subscription_id: subscription.id,
  })
}
