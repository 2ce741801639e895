// Sends one event again by hand, at once and outside the queue of its webhook.
import { inTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { ActionContext } from '../../../http/route.ts'
import { getOne } from '../../../resource/store.ts'
import { selects } from '../delivery/matches.ts'
import { attempt, attemptRow, type SendDeps } from '../delivery/queue/send-queue.ts'
import { recordResend } from '../delivery/record-resend.ts'
import { saveAttempts } from '../delivery/save-attempts.ts'
import { refuseDisabled } from '../delivery/test-delivery.ts'
import type { PostOutcome } from '../request/post.ts'
import { webhookResource } from '../webhook.ts'
import { getEvent } from './list-events.ts'

/**
 * Sends the event to the webhook. The attempt is stored; neither the queue nor the count of failures changes. Throws
 * RESOURCE_NOT_FOUND, and INVALID_OPERATION for a disabled webhook or one that does not select this type. Emits
 * WEBHOOK_EVENT.RESENT.
 */
export async function resendEvent(
  deps: SendDeps,
  { tenant, actor, database }: ActionContext,
  of: { readonly eventId: string; readonly webhookId: string },
): Promise<PostOutcome> {
  const { webhook, event } = await inTenant(database, tenant, actor, async uow => {
    const found = await getOne(uow, webhookResource, of.webhookId)
    const chosen = await getEvent(uow, of.eventId)
    refuseDisabled(found)
    if (!selects(found, chosen.type)) throw notTaken(found.id, chosen.type)
    await recordResend(uow, found.id, chosen)
    return { webhook: found, event: chosen }
  })
  const outcome = await attempt(deps, webhook, event)
  await inTenant(database, tenant, actor, uow =>
    saveAttempts(uow, webhook.id, [attemptRow('RESEND', event, deps, outcome)]),
  )
  return outcome
}

function notTaken(webhookId: string, type: string): AppError {
  const message = `The webhook does not take ${type}; change its included_actions or excluded_actions first.`
  const about = { field: 'webhook_id', resourceId: webhookId, resourceType: 'WEBHOOK' }
  return new AppError('INVALID_OPERATION', message, about)
}
