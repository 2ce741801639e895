// Redemptions as they are stored: one for each coupon of a subscription.
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { anyOf } from '../../../shared/database/statements/any-of.ts'
import { type Id, idOf, idsOf, newId } from '../../../shared/ids.ts'
import { formatInstant } from '../../../shared/time.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { couponRedemptions } from './table.ts'

type Redeemed = {
  readonly coupon_id: string
  readonly promotion_code_id: string | null
  readonly promotion_code: string | null
}
type By = { readonly customerId: Id<'cust'>; readonly subscriptionId: Id<'ppsu'> }

/** Counts these coupons for the subscription; one that is counted already stays as it is. */
export async function addRedemptions(
  uow: Uow,
  coupons: readonly Redeemed[],
  { customerId, subscriptionId }: By,
): Promise<void> {
  const now = formatInstant(uow.now)
  const rows = coupons.map(coupon => ({
    platform_id: uow.tenant.platformId,
    environment: uow.tenant.environment,
    id: newId('core'),
    created_at: now,
    updated_at: now,
    coupon_id: idOf('coup', coupon.coupon_id),
    promotion_code_id: idOf('prco', coupon.promotion_code_id),
    code: coupon.promotion_code,
    customer_id: customerId,
    pricing_plan_subscription_id: subscriptionId,
    redeemed_at: now,
  }))
  await uow.tx.insert(couponRedemptions).values(rows).onConflictDoNothing()
}

/** Gives back what the subscription redeemed of these coupons. */
export async function removeRedemptions(
  uow: Uow,
  subscriptionId: Id<'ppsu'>,
  couponIds: readonly string[],
): Promise<void> {
  await uow.tx
    .delete(couponRedemptions)
    .where(
      and(
        inThisTenant(uow, couponRedemptions),
        eq(couponRedemptions.pricing_plan_subscription_id, subscriptionId),
        anyOf(couponRedemptions.coupon_id, idsOf('coup', couponIds)),
      ),
    )
}

/** Says of every redemption of the subscription that this customer made it. */
export async function moveRedemptions(uow: Uow, subscriptionId: Id<'ppsu'>, customerId: Id<'cust'>): Promise<void> {
  await uow.tx
    .update(couponRedemptions)
    .set({ customer_id: customerId, updated_at: formatInstant(uow.now) })
    .where(
      and(inThisTenant(uow, couponRedemptions), eq(couponRedemptions.pricing_plan_subscription_id, subscriptionId)),
    )
}
