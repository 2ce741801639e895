// Copying a subscription: a DRAFT with the same terms and schedules, to be changed and activated on its own (semantics 4.1).
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { lockExisting } from '../../../resource/store.ts'
import { cloneSchedule, cloneSubscription } from '../clone.ts'
import { listSchedules, scheduleResource } from '../schedules/schedule.ts'
import { statedWithin } from '../stated-times.ts'
import { subscriptionResource } from '../subscription.ts'
import { type CouponBehaviour, carriedCoupons } from '../succession/succeed-schedule.ts'
import type { Subscription } from '../table.ts'

type CopyRequest = CouponBehaviour & { readonly reference?: string | null }

/**
 * Creates a DRAFT with the terms and the schedules of another. Its custom fields go along, but for those that hold each value once. Its
 * coupons are redeemed once more unless the request says NONE. Throws INVALID_FIELD where they cannot be.
 */
export async function copySubscription(
  uow: Uow,
  idOrReference: string,
  { reference, coupon_discount_behaviour = 'CARRY_OVER' }: CopyRequest,
): Promise<Subscription> {
  // Locked, so that its schedules stand still meanwhile.
  const source = await lockExisting(uow, subscriptionResource, idOrReference)
  const copy = await cloneSubscription(uow, source, { reference: reference ?? null })
  const coupons = carriedCoupons({ coupon_discount_behaviour })
  // One that was ended early may state something for a time that it no longer has.
  for (const schedule of await listSchedules(uow, source.id))
    await cloneSchedule(uow, copy, schedule, {
      ...statedWithin(schedule, { start: schedule.start_at, end: schedule.end_at }),
      ...coupons,
    }).catch(error => refuseCopy(error, schedule.id))
  return copy
}

/**
 * The request names no schedule and no coupon. What is wrong with a coupon is wrong with how coupons are treated; what is wrong with the
 * schedule besides is no field of the request.
 */
function refuseCopy(error: unknown, scheduleId: string): never {
  const { field = '' } = error instanceof AppError ? error.details : {}
  if (!(error instanceof AppError)) throw error
  if (!/^(coupon_ids|promotion_codes)/.test(field)) {
    const message = `The schedule ${scheduleId} cannot be copied. ${error.message} Create a subscription instead, with schedules of its own.`
    throw new AppError('INVALID_OPERATION', message, {
      resourceId: scheduleId,
      resourceType: scheduleResource.objectType,
      cause: error,
    })
  }
  const message = `The schedule ${scheduleId} has a coupon that cannot be redeemed once more. ${error.message} Send NONE to leave coupons out.`
  throw new AppError('INVALID_FIELD', message, { field: 'coupon_discount_behaviour', cause: error })
}
