// Time that a FINAL invoice has billed stays as billed, whatever changes in subscriptions and schedules.
import type { Uow } from '../../../../shared/database/database.ts'
import { at } from '../../../../shared/time.ts'
import { beforeDelete, beforeSave } from '../../../resource/rules.ts'
import { getOne } from '../../../resource/store.ts'
import { clauseChanges } from '../../subscriptions/clauses/clause-entries.ts'
import { seatsValueChanges } from '../../subscriptions/counts/seat-spans.ts'
import { couponChanges } from '../../subscriptions/coupons/coupon-lists.ts'
import { enabledChanges } from '../../subscriptions/enabled-pricings/enabled-spans.ts'
import { includedVolumeChanges } from '../../subscriptions/included-volumes/check-included.ts'
import { listSchedules, scheduleResource } from '../../subscriptions/schedules/schedule.ts'
import { isCharged, seatAssignmentResource } from '../../subscriptions/seats/seat-assignment.ts'
import { seatTimes } from '../../subscriptions/seats/seat-times.ts'
import type { SeatAssignment } from '../../subscriptions/seats/table.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import type { Schedule, Subscription } from '../../subscriptions/table.ts'
import { refuseBilledTime } from './refuse-billed-time.ts'
import { refuseClosedPeriods } from './refuse-closed-periods.ts'
import { refuseDeletingBilled, refuseMovingBilled } from './refuse-deleting-billed.ts'
import { refuseEarlyEnd } from './refuse-early-end.ts'
import { refuseVoidingBilled } from './voided.ts'

/**
 * Checks a schedule: its changed clauses and ADDONs, and when it becomes ACTIVE all of them and the time it is then in force
 * for.
 */
async function guardSchedule(uow: Uow, row: Schedule, previous: Schedule | null): Promise<void> {
  const activates = row.status === 'ACTIVE' && previous?.status !== 'ACTIVE'
  const kept = activates ? [] : (previous?.applied_coupons ?? [])
  const added = row.applied_coupons.filter(({ coupon_id: id }) => !kept.some(each => each.coupon_id === id))
  // A coupon that is removed no longer applies to later invoices; FINAL invoices keep it.
  const enabled = enabledChanges(
    activates ? [] : (previous?.enabled_pricings ?? []),
    row.enabled_pricings,
    row.start_at,
  )
  const changes = [
    ...clauseChanges(activates ? {} : (previous ?? {}), row, at(row.start_at)),
    ...couponChanges([], added, row.start_at),
    ...enabled,
  ]
  await refuseClosedPeriods(uow, row.pricing_plan_subscription_id, changes)
  if (previous !== null && !activates)
    await refuseClosedPeriods(
      uow,
      row.pricing_plan_subscription_id,
      seatsValueChanges(previous, row),
      'number of seats',
    )
  if (previous !== null && !activates)
    await refuseClosedPeriods(
      uow,
      row.pricing_plan_subscription_id,
      includedVolumeChanges(previous, row),
      'included volume',
    )
  if (row.status !== 'ACTIVE' || (!activates && enabled.length === 0)) return
  const subscription = await getOne(uow, subscriptionResource, row.pricing_plan_subscription_id)
  if (subscription.status !== 'ACTIVE') return
  // One that is ACTIVE from the first starts now or later: there no usage of another
  // subscription is billed yet, which is all that is checked here. Charges in advance may be.
  await refuseBilledTime(uow, subscription, previous === null ? [] : [row.id], activates ? null : row.enabled_pricings)
}

/** A subscription that becomes ACTIVE brings all its schedules into force. */
async function guardSubscription(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  if (row.status !== 'ACTIVE' || previous === null || previous.status === 'ACTIVE') return
  const schedules = await listSchedules(uow, row.id)
  await refuseBilledTime(
    uow,
    row,
    schedules.map(({ id }) => id),
  )
}

/** Checks a charged assignment: its start, and its end when that changes. */
async function guardSeat(uow: Uow, row: SeatAssignment, previous: SeatAssignment | null): Promise<void> {
  const changes = seatTimes(row, previous)
  if (changes.length === 0 || !(await isCharged(uow, row))) return
  await refuseClosedPeriods(uow, row.pricing_plan_subscription_id, changes, 'number of seats')
}

export const CLOSED_TIME_GUARDS = [
  beforeSave(seatAssignmentResource, guardSeat),
  beforeSave(scheduleResource, guardSchedule),
  beforeSave(scheduleResource, refuseMovingBilled),
  beforeDelete(scheduleResource, refuseDeletingBilled),
  beforeSave(subscriptionResource, guardSubscription),
  beforeSave(subscriptionResource, refuseEarlyEnd),
  beforeSave(subscriptionResource, refuseVoidingBilled),
] as const
