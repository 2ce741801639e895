// Decisions on a request, and taking it back. The request is locked, so of two at once the second sees what the first has done.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { lockExisting } from '../../../resource/store.ts'
import { type ApprovalSource, sourcesOf } from '../sources.ts'
import type { ApprovalRequest } from '../table.ts'
import { actingUser } from './acting-user.ts'
import { type Decision, decide } from './decide.ts'
import { approvalRequestResource } from './request.ts'

/**
 * Records the decision of the user who calls. The last one that is needed makes what was submitted valid, or refuses it, in the same
 * transaction. Throws USER_NOT_ALLOWED for who is no reviewer, INVALID_OPERATION for a request that is decided, and whatever keeps
 * what was submitted from becoming valid.
 */
export async function decideRequest(uow: Uow, id: string, decision: Decision): Promise<ApprovalRequest> {
  const userId = actingUser(uow.actor)
  if (userId === null) {
    const message =
      'A request is decided by a user, and an API key is none. Call with the token of a reviewer, or with a PROXY key for one.'
    throw new AppError('USER_NOT_ALLOWED', message)
  }
  const { request, source } = await lockPending(uow, id)
  const at = formatInstant(uow.now)
  const reviewed = { strategy: request.approval_strategy, reviewers: request.reviewers }
  const decided = decide(reviewed, { userId, decision, at })
  if ('refused' in decided)
    throw new AppError(decided.notAsked ? 'USER_NOT_ALLOWED' : 'INVALID_OPERATION', decided.refused, named(id))
  const { reviewers, status } = decided
  if (status === 'PENDING_REVIEW') return await saveChange(uow, approvalRequestResource, request, { reviewers })
  const row = await saveChange(uow, approvalRequestResource, request, { reviewers, status, reviewed_at: at })
  await (status === 'APPROVED' ? source.approved : source.refused)(uow, row)
  return row
}

/** Takes the request back. Throws USER_NOT_ALLOWED unless its owner calls, or who may change the policies. */
export async function cancelRequest(uow: Uow, id: string): Promise<ApprovalRequest> {
  const { request, source } = await lockPending(uow, id)
  const caller = actingUser(uow.actor) ?? uow.actor.id
  const isOwner = request.owner_id !== null && request.owner_id === caller
  if (!isOwner && uow.actor.may?.('APPROVAL_POLICY.UPDATE') === false) {
    const message = `The request is cancelled by its owner ${request.owner_id}, or by a user or key with APPROVAL_POLICY.UPDATE.`
    throw new AppError('USER_NOT_ALLOWED', message, named(id))
  }
  const reviewed_at = formatInstant(uow.now)
  const row = await saveChange(uow, approvalRequestResource, request, { status: 'CANCELLED', reviewed_at })
  await source.refused(uow, row)
  return row
}

async function lockPending(
  uow: Uow,
  id: string,
): Promise<{ readonly request: ApprovalRequest; readonly source: ApprovalSource }> {
  const request = await lockExisting(uow, approvalRequestResource, id)
  requirePending(request)
  const source = sourcesOf(uow).find(({ type }) => type === request.source_type)
  if (!source) throw new Error(`no module submits what is of type ${request.source_type}`)
  return { request, source }
}

function requirePending({ id, status }: ApprovalRequest): void {
  if (status === 'PENDING_REVIEW') return
  const next =
    status === 'APPROVED' ? 'what it was about is valid by now' : 'activate what it was about to make another request'
  const message = `The request is ${status}, which is final; ${next}.`
  throw new AppError('INVALID_OPERATION', message, { field: 'status', ...named(id) })
}

const named = (id: string) => ({ resourceId: id, resourceType: approvalRequestResource.objectType })
