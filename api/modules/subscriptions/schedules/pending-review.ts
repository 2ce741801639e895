// A schedule that is pending review stays as it was submitted until its request is decided or cancelled (contract: States).
import type { ReadUow } from '../../../../shared/database/database.ts'
import { AppError, type ErrorCode } from '../../../../shared/errors.ts'
import { pendingRequest } from '../../approvals/requests/request.ts'
import type { Schedule } from '../table.ts'

/** Throws, naming the request, where the schedule is pending review; INVALID_OPERATION unless it is given another code. */
export async function refusePending(
  uow: ReadUow,
  { id, approval_status }: Schedule,
  code: ErrorCode = 'INVALID_OPERATION',
): Promise<void> {
  if (approval_status !== 'PENDING_REVIEW') return
  const request = await pendingRequest(uow, 'PRICING_PLAN_SCHEDULE', id)
  const message = `The schedule ${id} is pending review and stays as it was submitted; its approval makes it ACTIVE. To change it, cancel the request first: POST /v1/approval-requests/${request?.id}/cancel.`
  throw new AppError(code, message, { resourceId: id, resourceType: 'PRICING_PLAN_SCHEDULE' })
}
