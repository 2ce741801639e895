// What takes a schedule away: a DRAFT, or one that is ACTIVE and has not begun, such as a downgrade that the customer takes back.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { deleteResource, saveChange, saveRemoval } from '../../../resource/commands.ts'
import { wakeBilling } from '../billing-time/next-billing.ts'
import type { Schedule, Subscription } from '../table.ts'
import { listSchedules, requireOpen, scheduleResource } from './schedule.ts'
import { lockSchedule } from './schedule-commands.ts'

/**
 * Deletes a DRAFT schedule, unless that would leave a gap between its neighbours, or the last ACTIVE one before it begins: the schedule
 * before it runs on in its place, with no refund where it would have ended. With a draft goes the end that it gave to the schedule before. Throws COULD_NOT_DELETE_RESOURCE.
 */
export async function deleteSchedule(uow: Uow, id: string): Promise<Schedule> {
  const { schedule, subscription } = await lockSchedule(uow, id)
  const all = await listSchedules(uow, subscription.id)
  const place = all.findIndex(other => other.id === schedule.id)
  const [before, after] = [all[place - 1], all[place + 1]]
  if (before && after) {
    const message = `It would leave a gap between the schedules ${before.id} and ${after.id}; delete the later ones first.`
    throw new AppError('COULD_NOT_DELETE_RESOURCE', message)
  }
  if (schedule.status === 'DRAFT') {
    const deleted = await deleteResource(uow, scheduleResource, id)
    if (before) await runOn(uow, subscription, before).catch(asRefusal(schedule))
    return deleted
  }
  requireOpen(subscription)
  if (schedule.start_at <= formatInstant(uow.now))
    throw refused(schedule, 'it has begun; set its end_at, or have another schedule follow it')
  if (!before && after)
    throw refused(schedule, `the schedule ${after.id} follows it; move its start_at, or delete the later one first`)
  if (!before) throw refused(schedule, 'the subscription has no other; cancel or void the subscription instead')
  if (before.type === 'TRIAL')
    throw refused(
      schedule,
      `the trial ${before.id} would run on; move to another plan with change-plan, or cancel the subscription instead`,
    )
  await saveRemoval(uow, scheduleResource, schedule)
  await saveChange(uow, scheduleResource, before, {
    end_at: schedule.end_at,
    ended_by_next: schedule.ended_by_next,
    refund_advance_charges: false,
  }).catch(asRefusal(schedule))
  await wakeBilling(uow, subscription)
  return schedule
}

const refused = ({ id }: Schedule, why: string): AppError =>
  new AppError('COULD_NOT_DELETE_RESOURCE', `The schedule is ACTIVE and cannot be deleted: ${why}.`, {
    field: 'status',
    resourceId: id,
    resourceType: scheduleResource.objectType,
  })

/** Why the schedule before this one cannot run on in its place, as the reason why this one stays. */
const asRefusal =
  ({ id }: Schedule) =>
  (error: unknown): never => {
    if (!(error instanceof AppError) || error.details.field !== 'end_at') throw error
    const message = `The schedule before this one would run on. ${error.message} Move to another plan with change-plan, or cancel the subscription instead.`
    throw new AppError('COULD_NOT_DELETE_RESOURCE', message, {
      resourceId: id,
      resourceType: scheduleResource.objectType,
    })
  }

/** Takes away the end that a schedule got with the draft after it, unless that would bring back time that has passed. */
async function runOn(uow: Uow, subscription: Subscription, schedule: Schedule): Promise<void> {
  const isLive = subscription.status === 'ACTIVE' && schedule.status === 'ACTIVE'
  const hasPassed = schedule.end_at !== null && schedule.end_at <= formatInstant(uow.now)
  if (!schedule.ended_by_next || (isLive && hasPassed)) return
  await saveChange(uow, scheduleResource, schedule, { end_at: null, ended_by_next: false })
  if (isLive) await wakeBilling(uow, subscription)
}
