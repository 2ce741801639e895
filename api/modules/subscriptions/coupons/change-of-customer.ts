// A DRAFT subscription that gets another customer: its promotion codes are judged for that one, who then has redeemed its coupons.
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { afterSave, beforeSave } from '../../../resource/rules.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { moveRedemptions } from '../../coupons/store-redemptions.ts'
import { promotionCodes } from '../../coupons/table.ts'
import { subscriptionResource } from '../subscription.ts'
import { type Subscription, schedules } from '../table.ts'
import { mayRedeem } from './take-coupons.ts'

const isAnother = (row: Subscription, previous: Subscription | null): previous is Subscription =>
  previous !== null && row.customer_id !== previous.customer_id

/** Throws INVALID_FIELD when a schedule has a promotion code that is limited to other customers (semantics 2). */
async function refuseOthersCodes(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  if (!isAnother(row, previous)) return
  const own = await uow.tx
    .select({ id: schedules.id, applied: schedules.applied_coupons })
    .from(schedules)
    .where(and(inThisTenant(uow, schedules), eq(schedules.pricing_plan_subscription_id, row.id)))
  const codeIds = own.flatMap(({ applied }) => applied.flatMap(({ promotion_code_id: id }) => id ?? []))
  if (codeIds.length === 0) return
  const codes = await uow.tx
    .select({ id: promotionCodes.id, code: promotionCodes.code, limited_to: promotionCodes.limited_to })
    .from(promotionCodes)
    .where(and(inThisTenant(uow, promotionCodes), anyOf(promotionCodes.id, idsOf('prco', codeIds))))
  const others = codes.find(code => !mayRedeem(code, row))
  if (!others) return
  const schedule = own.find(({ applied }) => applied.some(each => each.promotion_code_id === others.id))
  const message = `The schedule ${schedule?.id} has the promotion code ${others.code}, which is for other customers; take it off first.`
  throw new AppError('INVALID_FIELD', message, { field: 'customer_id' })
}

export const CHANGE_OF_CUSTOMER_GUARDS = [beforeSave(subscriptionResource, refuseOthersCodes)] as const
export const CHANGE_OF_CUSTOMER_EFFECTS = [
  afterSave(subscriptionResource, async (uow, row: Subscription, previous: Subscription | null) => {
    if (isAnother(row, previous) && row.customer_id !== null) await moveRedemptions(uow, row.id, row.customer_id)
  }),
] as const
