// What a subscription says of its schedules follows them.
import { and, eq, ne, sql } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import type { Id } from '../../../shared/ids.ts'
import { afterSave, withDelete } from '../../resource/rules.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { CHANGE_OF_CUSTOMER_EFFECTS } from './coupons/change-of-customer.ts'
import { followStart } from './ending/follow-start.ts'
import { RATE_CARD_EFFECTS } from './rate-cards/guards.ts'
import { REDEMPTION_EFFECTS } from './schedules/redemptions.ts'
import { scheduleResource } from './schedules/schedule.ts'
import { schedules as h, type Schedule, subscriptions as s } from './table.ts'

/** The start of the first schedule, which lists filter by. Not a change of the subscription: its updated_at stays. */
async function keepStart(uow: Uow, subscriptionId: Id<'ppsu'>, exceptId: Id<'ppsc'> | null): Promise<void> {
  const first = uow.tx
    .select({ start: sql`min(${h.start_at})` })
    .from(h)
    .where(
      and(
        inThisTenant(uow, h),
        eq(h.pricing_plan_subscription_id, subscriptionId),
        exceptId === null ? undefined : ne(h.id, exceptId),
      ),
    )
  await uow.tx
    .update(s)
    .set({ start_at: sql`(${first})` })
    .where(and(inThisTenant(uow, s), eq(s.id, subscriptionId)))
}

export const SUBSCRIPTION_EFFECTS = [
  ...REDEMPTION_EFFECTS,
  ...CHANGE_OF_CUSTOMER_EFFECTS,
  ...RATE_CARD_EFFECTS,
  afterSave(scheduleResource, async (uow, row: Schedule, previous) => {
    if (row.start_at !== previous?.start_at) await keepStart(uow, row.pricing_plan_subscription_id, null)
  }),
  afterSave(scheduleResource, followStart),
  withDelete(scheduleResource, async (uow, row: Schedule) => {
    await keepStart(uow, row.pricing_plan_subscription_id, row.id)
  }),
] as const
