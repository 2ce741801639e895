// Starts a replay: sets the queue of the webhook back, so that replayed and new events are sent in one order.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { newId } from '../../../../shared/ids.ts'
import { formatInstant, parseInstant } from '../../../../shared/time.ts'
import { emit } from '../../../outbox.ts'
import { lockExisting } from '../../../resource/store.ts'
import { formatExact } from '../delivery/queue/queue-store.ts'
import { runningReplay } from '../delivery/running-replay.ts'
import { getEvent } from '../log/list-events.ts'
import { type WebhookReplay, webhookReplays } from '../table.ts'
import { webhookResource } from '../webhook.ts'
import { viewOfReplay } from './read-replays.ts'
import { EVENTS_PER_SECOND, type ReplayRequest } from './schema.ts'

/**
 * Throws MISSING_FIELD or INVALID_FIELD for an invalid start, RESOURCE_NOT_FOUND, and INVALID_OPERATION for a webhook
 * that is off or already in a replay. Emits WEBHOOK_REPLAY.CREATED.
 */
export async function startReplay(uow: Uow, idOrReference: string, body: ReplayRequest): Promise<WebhookReplay> {
  const webhook = await lockExisting(uow, webhookResource, idOrReference)
  const about = { resourceId: webhook.id, resourceType: 'WEBHOOK' }
  if (!webhook.active) {
    const message = 'The webhook is not active: set active to true first, and then replay what it has missed.'
    throw new AppError('INVALID_OPERATION', message, { ...about, field: 'active' })
  }
  if (await runningReplay(uow, webhook.id)) {
    const message = 'A replay of this webhook is running: wait until it is COMPLETED, or cancel it.'
    throw new AppError('INVALID_OPERATION', message, about)
  }
  const { platformId, environment } = uow.tenant
  const begins = await beginningOf(uow, body)
  const { rows } = await uow.tx.execute<Queue>(sql`
    select q.position::text as resume, q.first_position::text as first,
      (select coalesce(max(o.position), 0) from outbox o
        where o.platform_id = ${platformId} and o.environment = ${environment} and o.position is not null)::text as last
    from webhook_queues q
    where q.platform_id = ${platformId} and q.environment = ${environment} and q.webhook_id = ${webhook.id} for update of q`)
  const [queue] = rows
  if (!queue) throw new Error(`${webhook.id} has no queue`)
  const scope = body.scope ?? 'ALL'
  // The webhook cannot have missed what happened before it was created.
  const wanted = begins ?? queue.last
  const from = scope === 'FAILED' && BigInt(queue.first) > BigInt(wanted) ? queue.first : wanted
  const [replay] = await uow.tx
    .insert(webhookReplays)
    .values({
      platform_id: platformId,
      environment,
      id: newId('whre'),
      created_at: formatInstant(uow.now),
      webhook_id: webhook.id,
      from_position: from,
      to_position: queue.last,
      resume_position: queue.resume,
      scope,
      events_per_second: body.events_per_second ?? EVENTS_PER_SECOND,
      status: 'RUNNING',
      events_sent: 0,
      finished_at: null,
    })
    .returning()
  if (!replay) throw new Error('a replay that was saved is not there')
  // What was committed before the webhook was switched on, and has no position yet, is sent after what is replayed.
  // A running turn can no longer record its result; its lease stays until it ends, so that no other worker sends at the
  // same time.
  await uow.tx.execute(sql`
    update webhook_queues set position = least(position, ${from}::bigint), active_seq = null, active_snapshot = null, fence = fence + 1,
      next_attempt_at = ${formatExact(uow.now)}::timestamptz,
      waiting_since = coalesce(waiting_since, ${formatExact(uow.now)}::timestamptz)
    where platform_id = ${platformId} and environment = ${environment} and webhook_id = ${webhook.id}`)
  const data = await viewOfReplay(uow, replay)
  await emit(uow, { type: 'WEBHOOK_REPLAY.CREATED', objectId: replay.id, data, previous: null })
  return replay
}

type Queue = { resume: string; first: string; last: string }

/** The position after which the replay begins; null when nothing has happened since. */
async function beginningOf(uow: Uow, { from, from_event_id }: ReplayRequest): Promise<string | null> {
  if (from_event_id !== undefined) {
    if (from !== undefined)
      throw new AppError('INVALID_FIELD', 'Send either from or from_event_id, not both.', { field: 'from' })
    return String(BigInt((await getEvent(uow, from_event_id)).position) - 1n)
  }
  if (from === undefined) {
    const message = 'Give the start of the replay: from (a time) or from_event_id.'
    throw new AppError('MISSING_FIELD', message, { field: 'from' })
  }
  const time = parseInstant(from)
  if (time === null || time > uow.now) {
    throw new AppError('INVALID_FIELD', 'from must be a time in the past.', { field: 'from' })
  }
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ position: string | null }>(sql`
    select (min(position) - 1)::text as position from outbox
    where platform_id = ${platformId} and environment = ${environment} and position is not null
      and created_at >= ${formatInstant(time)}::timestamptz`)
  return rows[0]?.position ?? null
}
