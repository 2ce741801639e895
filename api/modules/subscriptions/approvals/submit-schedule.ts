// Submitting a schedule for approval in place of its activation (contract: States).
import type { Uow } from '../../../../shared/database/database.ts'
import { saveChange } from '../../../resource/commands.ts'
import { guardSave } from '../../../resource/rules.ts'
import { submit } from '../../approvals/requests/submit.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import type { Schedule, Subscription } from '../table.ts'
import { requiredApproval } from './review-schedule.ts'

/**
 * The schedule, which is pending review from now on, where it needs an approval; null where it needs none. Throws what its activation would
 * be refused for, so that nothing is reviewed that cannot become ACTIVE.
 */
export async function submitWhereRequired(
  uow: Uow,
  schedule: Schedule,
  subscription: Subscription,
): Promise<Schedule | null> {
  const required = await requiredApproval(uow, { schedule, subscription })
  if (required === null) return null
  const pending: Schedule = { ...schedule, approval_status: 'PENDING_REVIEW' }
  const approved: Schedule = { ...pending, status: 'ACTIVE', approval_status: 'APPROVED' }
  await guardSave(uow, scheduleResource, approved, pending)
  const { policy, facts } = required
  await submit(uow, policy, { sourceId: schedule.id, facts })
  return await saveChange(uow, scheduleResource, schedule, { approval_status: 'PENDING_REVIEW' })
}
