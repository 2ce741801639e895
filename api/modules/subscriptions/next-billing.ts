// What billing keeps on a subscription: its lock, and when to look at it next.
import { and, eq, sql } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { formatInstant } from '../../../shared/time.ts'
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
export async function saveNextBilling(uow: Uow, subscriptionId: string, nextBillingAt: string | null): Promise<void> {
  await uow.tx
    .update(subscriptions)
    .set({ next_billing_at: nextBillingAt })
    .where(and(inThisTenant(uow, subscriptions), eq(subscriptions.id, subscriptionId)))
}
