// The running replay of a webhook, as the API sees it.
import { and, eq, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { emit } from '../../../outbox.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { webhookReplays as table, type WebhookReplay } from '../table.ts'

export type RunningReplay = Pick<WebhookReplay, 'id' | 'to_position' | 'scope' | 'events_per_second'>

/** A `RunningReplay` from the row `r`, or null where there is none. */
export const RUNNING_REPLAY = sql.raw(`case when r.id is null then null else jsonb_build_object('id', r.id,
  'to_position', r.to_position::text, 'scope', r.scope, 'events_per_second', r.events_per_second) end`)

const running = (uow: ReadUow, webhookId: Id<'webh'>) =>
  and(inThisTenant(uow, table), eq(table.webhook_id, webhookId), eq(table.status, 'RUNNING'))

/** The running replay; null when there is none. */
export async function runningReplay(uow: ReadUow, webhookId: Id<'webh'>): Promise<WebhookReplay | null> {
  const [found] = await uow.tx.select().from(table).where(running(uow, webhookId))
  return found ?? null
}

/** A replay as the API returns it, with the number of events still to be examined. */
export const replayView = (replay: WebhookReplay, events_remaining: number | null): Row => {
  const { id, created_at, webhook_id, scope, events_per_second, status, events_sent, finished_at } = replay
  return {
    object_type: 'WEBHOOK_REPLAY',
    ...{ id, created_at, webhook_id, scope, events_per_second, status, events_sent, events_remaining, finished_at },
  }
}

/**
 * Ends the running replay, if there is one: the queue continues after the events it had sent before. Emits
 * WEBHOOK_REPLAY.CANCELLED.
 */
export async function cancelReplay(uow: Uow, webhookId: Id<'webh'>): Promise<void> {
  const { platformId, environment } = uow.tenant
  // Locks the queue first, as recording a turn does, so that the two cannot deadlock.
  await uow.tx.execute(sql`
    update webhook_queues q set position = greatest(q.position, r.resume_position), fence = q.fence + 1
    from webhook_replays r
    where q.platform_id = ${platformId} and q.environment = ${environment} and q.webhook_id = ${webhookId} and r.status = 'RUNNING'
      and r.platform_id = q.platform_id and r.environment = q.environment and r.webhook_id = q.webhook_id`)
  const [ended] = await uow.tx
    .update(table)
    .set({ status: 'CANCELLED', finished_at: formatInstant(uow.now) })
    .where(running(uow, webhookId))
    .returning()
  if (!ended) return
  await emit(uow, {
    type: 'WEBHOOK_REPLAY.CANCELLED',
    objectId: ended.id,
    data: replayView(ended, 0),
    previous: null,
  })
}
