// Sends the event that blocks a queue at once, when its tenant says that the endpoint works again.
import { sql } from 'drizzle-orm'
import { inTenant, type Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { instantOf } from '../../../../shared/time.ts'
import type { ActionContext } from '../../../http/route.ts'
import { getOne } from '../../../resource/store.ts'
import type { RelayedChange } from '../../../workers/outbox-consumer.ts'
import type { PostOutcome } from '../request/post.ts'
import type { Webhook } from '../table.ts'
import { webhookResource } from '../webhook.ts'
import { formatExact, LEASE_MS } from './queue/queue-store.ts'
import { attempt, attemptRow, type SendDeps } from './queue/send-queue.ts'
import { nextEvent } from './read-events.ts'
import { recordResend } from './record-resend.ts'
import { saveAttempts } from './save-attempts.ts'
import { refuseDisabled } from './test-delivery.ts'

type Held = { readonly webhook: Webhook; readonly fence: string; readonly head: RelayedChange }

/**
 * Sends the event that blocks the queue of a webhook, under the queue's lease. On success the queue continues after it.
 * On failure only the attempt is stored: only scheduled attempts count towards disabling the webhook. Emits
 * WEBHOOK_EVENT.RESENT.
 */
export async function sendPenaltyBox(
  deps: SendDeps,
  { tenant, actor, database }: ActionContext,
  idOrReference: string,
): Promise<PostOutcome> {
  const held = await inTenant(database, tenant, actor, uow => leaseHead(uow, idOrReference))
  const outcome = await attempt(deps, held.webhook, held.head)
  await inTenant(database, tenant, actor, uow => record(uow, deps, held, outcome))
  return outcome
}

/**
 * Takes the queue and reads its head. Throws INVALID_OPERATION when there is nothing to send, or when it is already
 * being sent.
 */
async function leaseHead(uow: Uow, idOrReference: string): Promise<Held> {
  const webhook = await getOne(uow, webhookResource, idOrReference)
  refuseDisabled(webhook)
  const { rows } = await uow.tx.execute<{ fence: string; position: string; failures: number; is_free: boolean }>(sql`
    select (fence + 1)::text as fence, position::text as position, failures,
      leased_until <= ${formatExact(uow.now)}::timestamptz as is_free from webhook_queues where ${queueOf(uow, webhook)} for update`)
  const [queue] = rows
  const head = queue && queue.failures > 0 && webhook.active ? await nextEvent(uow, webhook, queue.position) : null
  if (!queue || !head) throw refusal(webhook, 'Nothing blocks the queue of this webhook: there is no payload to send.')
  if (!queue.is_free) throw refusal(webhook, 'The payload is being sent right now; read the webhook again in a minute.')
  await uow.tx.execute(sql`
    update webhook_queues set fence = ${queue.fence}::bigint, lease_fence = ${queue.fence}::bigint, leased_until = ${formatExact(instantOf(uow.now + LEASE_MS))}::timestamptz
    where ${queueOf(uow, webhook)}`)
  await recordResend(uow, webhook.id, head)
  return { webhook, fence: queue.fence, head }
}

async function record(uow: Uow, deps: SendDeps, { webhook, fence, head }: Held, outcome: PostOutcome): Promise<void> {
  await saveAttempts(uow, webhook.id, [attemptRow('PENALTY_BOX', head, deps, outcome)])
  const result = outcome.succeeded
    ? sql`position = ${head.position}::bigint, failures = 0, cause = null, is_slow = false, next_attempt_at = ${formatExact(uow.now)}::timestamptz`
    : sql`cause = ${outcome.cause}`
  await uow.tx.execute(sql`
    update webhook_queues set ${result} where ${queueOf(uow, webhook)} and fence = ${fence}::bigint`)
  // Even if a replay has begun meanwhile: the replay waits for this attempt.
  await uow.tx.execute(sql`
    update webhook_queues set leased_until = '-infinity' where ${queueOf(uow, webhook)} and lease_fence = ${fence}::bigint`)
}

const queueOf = ({ tenant }: Uow, { id }: Webhook) =>
  sql`platform_id = ${tenant.platformId} and environment = ${tenant.environment} and webhook_id = ${id}`

const refusal = ({ id }: Webhook, message: string): AppError =>
  new AppError('INVALID_OPERATION', message, { resourceId: id, resourceType: 'WEBHOOK' })
