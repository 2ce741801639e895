// A subscription that takes the place of another: the other one ends when it starts (semantics 4.1, upgrade).
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type Subscription, subscriptions } from '../table.ts'

export const UPGRADED_FROM = 'upgraded_from_pricing_plan_subscription_id'
const RESOURCE_TYPE = 'PRICING_PLAN_SUBSCRIPTION'

/** Throws INVALID_FIELD or RESOURCE_NOT_FOUND unless the subscription can take the place of the one that it names. */
export async function checkUpgrade(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  const { [UPGRADED_FROM]: id, customer_id } = row
  if (id === null || (id === previous?.[UPGRADED_FROM] && customer_id === previous.customer_id)) return
  const refuse = (message: string) => new AppError('INVALID_FIELD', message, { field: UPGRADED_FROM })
  if (row.type !== 'BILLING') throw refuse(`A ${row.type} is not billed, so it takes the place of none; leave it out.`)
  if (id === row.id) throw refuse('It is the subscription itself; name the one that it takes the place of.')
  const [other] = await uow.tx
    .select({ customer_id: subscriptions.customer_id, type: subscriptions.type })
    .from(subscriptions)
    .where(and(inThisTenant(uow, subscriptions), eq(subscriptions.id, id)))
    .for('key share')
  if (!other)
    throw new AppError('RESOURCE_NOT_FOUND', `There is no ${RESOURCE_TYPE} ${JSON.stringify(id)}.`, {
      field: UPGRADED_FROM,
      resourceType: RESOURCE_TYPE,
    })
  requireSameCustomer(row, other)
}

/** Throws INVALID_FIELD unless the other one is billed, and to the same customer. */
export function requireSameCustomer(
  { customer_id }: Pick<Subscription, 'customer_id'>,
  other: Pick<Subscription, 'customer_id' | 'type'>,
): void {
  const refuse = (message: string) => new AppError('INVALID_FIELD', message, { field: UPGRADED_FROM })
  if (other.type !== 'BILLING') throw refuse(`It is a ${other.type}, which is not billed; name one of type BILLING.`)
  if (other.customer_id !== customer_id) throw refuse('It is of another customer; name a subscription of this one.')
}

/** The ACTIVE subscription that takes the place of this one; null when none does. */
export async function successorOf(uow: Uow, subscription: Subscription): Promise<Id<'ppsu'> | null> {
  const { upgraded_to_pricing_plan_subscription_id: id } = subscription
  return id !== null && (await statusOf(uow, id)) === 'ACTIVE' ? id : null
}

/** Throws INVALID_OPERATION for a subscription that ends by itself: another one, which is ACTIVE, takes its place. */
export async function refuseUpgraded(uow: Uow, subscription: Subscription): Promise<void> {
  const id = await successorOf(uow, subscription)
  if (id === null) return
  const message = `It ends at ${subscription.cancelled_at}, when the subscription ${id} takes its place; cancel or void that one first.`
  throw new AppError('INVALID_OPERATION', message, { resourceId: id, resourceType: RESOURCE_TYPE })
}

async function statusOf(uow: Uow, id: Id<'ppsu'>): Promise<Subscription['status'] | null> {
  const { status } = subscriptions
  const [row] = await uow.tx
    .select({ status })
    .from(subscriptions)
    .where(and(inThisTenant(uow, subscriptions), eq(subscriptions.id, idOf('ppsu', id))))
  return row?.status ?? null
}
