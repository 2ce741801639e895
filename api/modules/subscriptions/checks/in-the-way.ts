// The subscription for which a change of something else is refused.
import { and, type SQL } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { subscriptions } from '../table.ts'

/** A subscription that meets all these conditions; undefined when there is none. */
export async function anySubscription(uow: Uow, ...conditions: (SQL | undefined)[]): Promise<Id<'ppsu'> | undefined> {
  const [found] = await uow.tx
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(and(inThisTenant(uow, subscriptions), ...conditions))
    .limit(1)
  return found?.id
}

/** The refusal of a change, with the subscription that it would break. `field`: the one that says the change, if any does. */
export const inTheWay = (id: string, message: string, field?: string): AppError =>
  new AppError('INVALID_OPERATION', message, {
    ...(field === undefined ? {} : { field }),
    resourceId: id,
    resourceType: 'PRICING_PLAN_SUBSCRIPTION',
  })
