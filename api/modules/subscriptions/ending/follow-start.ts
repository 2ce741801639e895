// What is counted from the start of a subscription follows when that start moves, which it may until it has begun.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { getOne, lockOne } from '../../../resource/store.ts'
import { listSchedules } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Schedule, Subscription } from '../table.ts'
import { endSubscription } from './cancel-subscription.ts'
import { startAfter } from './end-upgraded.ts'
import { endedAt } from './inactive-periods.ts'
import { endByItself, endsWithTerm } from './subscription-term.ts'
import { UPGRADED_FROM } from './upgrade-subscription.ts'

/**
 * Moves the end of a subscription that is not renewed, and of the one whose place it takes, with the start of its first schedule. The caller
 * holds the lock of the subscription. Throws INVALID_FIELD or INVALID_OPERATION where the other one cannot end then.
 */
export async function followStart(uow: Uow, row: Schedule, previous: Schedule | null): Promise<void> {
  if (previous === null || row.status !== 'ACTIVE' || row.start_at === previous.start_at) return
  const subscription = await getOne(uow, subscriptionResource, row.pricing_plan_subscription_id)
  if (subscription.status !== 'ACTIVE' || subscription.type !== 'BILLING') return
  const [first] = await listSchedules(uow, subscription.id)
  if (first?.id !== row.id) return
  await moveTermEnd(uow, subscription, previous.start_at)
  await moveUpgraded(uow, subscription, row.start_at)
}

async function moveTermEnd(uow: Uow, subscription: Subscription, oldStart: string): Promise<void> {
  if (subscription.auto_renewal || subscription.upgraded_to_pricing_plan_subscription_id !== null) return
  if (!(await endsWithTerm(uow, subscription, at(oldStart)))) return
  const ends = await endByItself(uow, subscription)
  if (ends === null) return
  await saveChange(
    uow,
    subscriptionResource,
    subscription,
    endedAt(subscription, formatInstant(ends), { byTerm: true }),
  )
}

/** Without this both would charge the days between the two starts, or neither. */
async function moveUpgraded(uow: Uow, subscription: Subscription, start: string): Promise<void> {
  const { [UPGRADED_FROM]: id, upgraded_to_pricing_plan_subscription_id: successor, cancelled_at: gone } = subscription
  if (id === null) return
  if (successor !== null && gone !== null && gone <= start) {
    const message = `It gives way to the subscription ${successor} at ${gone}; have it start before that.`
    const about = { field: 'start_at', resourceId: successor, resourceType: subscriptionResource.objectType }
    throw new AppError('INVALID_FIELD', message, about)
  }
  const old = await lockOne(uow, subscriptionResource, id)
  if (old?.status !== 'ACTIVE' || old.upgraded_to_pricing_plan_subscription_id !== subscription.id) return
  const refuse = (which: string) => {
    const message = `It takes the place of the subscription ${id}, which ${which}.`
    const about = { field: 'start_at', resourceId: id, resourceType: subscriptionResource.objectType }
    throw new AppError('INVALID_FIELD', message, about)
  }
  const ends = await endByItself(uow, old)
  if (ends !== null && formatInstant(ends) < start)
    refuse(`is not renewed and ends at ${formatInstant(ends)}; have it start then or before`)
  const begins = await startAfter(uow, old, start)
  if (begins !== null) refuse(`takes the place of another at ${begins}; have it start then or later`)
  const ending = endedAt(old, start, { type: 'UPGRADE', refund: true })
  await endSubscription(uow, old, { ...ending, cancelled_at: start }).catch(error => {
    throw error instanceof AppError ? error.at('start_at') : error
  })
}
