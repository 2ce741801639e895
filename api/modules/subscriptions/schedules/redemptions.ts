// Redemptions follow what schedules have: one for each coupon of a subscription. A DRAFT that loses a coupon, or is deleted, gives it
// back (contract: Draft rules); what an ACTIVE schedule had stays counted.
import { and, eq, ne } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { afterSave, withDelete } from '../../../resource/rules.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { addRedemptions, removeRedemptions } from '../../coupons/store-redemptions.ts'
import { subscriptionResource } from '../subscription.ts'
import { type Schedule, schedules } from '../table.ts'
import { scheduleResource } from './schedule.ts'

async function followCoupons(uow: Uow, row: Schedule, previous: Schedule | null): Promise<void> {
  const before = previous?.applied_coupons ?? []
  const added = row.applied_coupons.filter(({ coupon_id: id }) => !before.some(each => each.coupon_id === id))
  const removed = before.filter(({ coupon_id: id }) => !row.applied_coupons.some(each => each.coupon_id === id))
  if (row.status === 'DRAFT')
    await release(
      uow,
      row,
      removed.map(each => each.coupon_id),
    )
  if (added.length === 0) return
  const { customer_id } = await getOne(uow, subscriptionResource, row.pricing_plan_subscription_id)
  if (customer_id === null) return
  await addRedemptions(uow, added, { customerId: customer_id, subscriptionId: row.pricing_plan_subscription_id })
}

/** Deletes the redemptions of these coupons, unless another schedule of the subscription has the coupon. */
async function release(uow: Uow, schedule: Schedule, couponIds: readonly string[]): Promise<void> {
  if (couponIds.length === 0) return
  const subscriptionId = schedule.pricing_plan_subscription_id
  const others = await uow.tx
    .select({ applied: schedules.applied_coupons })
    .from(schedules)
    .where(
      and(
        inThisTenant(uow, schedules),
        eq(schedules.pricing_plan_subscription_id, subscriptionId),
        ne(schedules.id, schedule.id),
      ),
    )
  const kept = new Set(others.flatMap(({ applied }) => applied.map(each => each.coupon_id)))
  const free = couponIds.filter(id => !kept.has(id))
  if (free.length > 0) await removeRedemptions(uow, subscriptionId, free)
}

export const REDEMPTION_EFFECTS = [
  afterSave(scheduleResource, followCoupons),
  withDelete(scheduleResource, (uow, row: Schedule) =>
    release(
      uow,
      row,
      row.applied_coupons.map(each => each.coupon_id),
    ),
  ),
] as const
