// Schedules as something that is submitted for approval: what follows the decision.
import { isDeepStrictEqual } from 'node:util'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { saveChange } from '../../../resource/commands.ts'
import type { ApprovalSource } from '../../approvals/sources.ts'
import type { ApprovalRequest } from '../../approvals/table.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import { activateSchedule, lockSchedule } from '../schedules/schedule-commands.ts'
import { factsOf, WITH_CUSTOM_FIELDS } from './schedule-facts.ts'

export const SCHEDULE_SOURCE: ApprovalSource = {
  type: 'PRICING_PLAN_SCHEDULE',
  withCustomFields: WITH_CUSTOM_FIELDS,
  approved: async (uow, request) => {
    await requireAsSubmitted(uow, request)
    await activateSchedule(uow, request.source_id, { isApproved: true })
  },
  refused: async (uow, { source_id, status }) => {
    const { schedule } = await lockSchedule(uow, source_id)
    await saveChange(uow, scheduleResource, schedule, { approval_status: status })
  },
}

/** Throws INVALID_OPERATION where something besides the schedule has changed what its reviewers saw, such as a custom field. */
async function requireAsSubmitted(uow: Uow, { id, source_id, facts }: ApprovalRequest): Promise<void> {
  const { schedule, subscription } = await lockSchedule(uow, source_id)
  const now = await factsOf(uow, schedule, subscription)
  const changed = Object.keys(facts).filter(
    name => !isDeepStrictEqual(facts[name as keyof typeof facts], now[name as keyof typeof now]),
  )
  if (changed.length === 0) return
  const message = `What was submitted has changed since (${changed.join(', ')}); cancel the request, and activate the schedule again.`
  throw new AppError('INVALID_OPERATION', message, { resourceId: id, resourceType: 'APPROVAL_REQUEST' })
}
