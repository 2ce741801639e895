// What billing keeps on a subscription: its lock, and when to look at it next.
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { formatInstant } from '../../../shared/time.ts'
import { updateMany } from '../../resource/many-rows.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { type Subscription, subscriptions } from './table.ts'

/** Everything that changes a subscription's invoices queues here; always taken before the lock of an invoice. */
export async function lockSubscription(uow: Uow, id: string): Promise<{ status: string }> {
  const [row] = await uow.tx
    .select({ status: subscriptions.status })
    .from(subscriptions)
    .where(and(inThisTenant(uow, subscriptions), eq(subscriptions.id, id)))
    .for('update')
  if (row) return row
  throw new AppError('RESOURCE_NOT_FOUND', `There is no PRICING_PLAN_SUBSCRIPTION ${JSON.stringify(id)}.`, {
    resourceType: 'PRICING_PLAN_SUBSCRIPTION',
  })
}

/**
 * The same of many subscriptions, in one order. Gives the ids of those it holds: one that another transaction holds is waited for,
 * or left out with `skip`.
 */
export async function lockSubscriptions(
  uow: Uow,
  ids: readonly string[],
  { skip }: { readonly skip: boolean },
): Promise<string[]> {
  const rows = await uow.tx
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(and(inThisTenant(uow, subscriptions), inArray(subscriptions.id, [...ids])))
    .orderBy(asc(subscriptions.id))
    .for('update', skip ? { skipLocked: true } : {})
  return rows.map(({ id }) => id)
}

/** Lets the billing run look at an ACTIVE subscription now. Internal, so it is no change anybody is told of. */
export async function wakeBilling(uow: Uow, subscription: Pick<Subscription, 'id' | 'status'>): Promise<void> {
  if (subscription.status !== 'ACTIVE') return
  await uow.tx
    .update(subscriptions)
    .set({
      next_billing_at: sql`least(coalesce(next_billing_at, ${formatInstant(uow.now)}), ${formatInstant(uow.now)})`,
    })
    .where(and(inThisTenant(uow, subscriptions), eq(subscriptions.id, subscription.id)))
}

/** When the billing run looks at the subscription next. Not a change of the subscription: its updated_at stays. */
export const saveNextBilling = (uow: Uow, subscriptionId: string, nextBillingAt: string | null): Promise<void> =>
  saveNextBillings(uow, new Map([[subscriptionId, nextBillingAt]]))

/** The same of many subscriptions. */
export async function saveNextBillings(uow: Uow, times: ReadonlyMap<string, string | null>): Promise<void> {
  const rows = [...times].map(([id, next_billing_at]) => ({ id, next_billing_at }))
  await updateMany(uow, subscriptions, rows)
}
