// The periodic jobs of webhooks.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../../shared/database/database.ts'
import { instantOf } from '../../../../shared/time.ts'
import { defineJob } from '../../../jobs/define-job.ts'
import { formatExact, QUEUE_RIGHTS } from './queue/queue-store.ts'

export type WebhookJobDeps = {
  /** In the role millrace_worker. */
  readonly system: Database
  readonly outboxRetentionDays: number
}

/**
 * Makes queues due whose events did not wake them: the webhook was created while the events were in flight. A queue
 * without matching events moves on, and is not found again.
 */
const findWaiting = defineJob<WebhookJobDeps>({
  name: 'find-waiting-webhooks',
  class: 'short',
  every: '* * * * *',
  rights: { ...QUEUE_RIGHTS },
  run: async ({ system }) => {
    const now = formatExact(system.clock.now())
    await asSystem(system, 'find-waiting-webhooks', tx =>
      tx.execute(sql`
        update webhook_queues q set next_attempt_at = ${now}::timestamptz
        from webhooks w
        where q.next_attempt_at is null and w.active and w.platform_id = q.platform_id and w.environment = q.environment
          and w.id = q.webhook_id and exists (select from outbox o where o.platform_id = q.platform_id
            and o.environment = q.environment and o.position > q.position)`),
    )
  },
})

const DAY_MS = 24 * 3_600_000
const BATCH_MAX = 10_000

/**
 * Deletes attempts whose event is gone and that are older than the retention of the outbox. Attempts are kept as long
 * as their event: without them, the event would seem never to have been sent.
 */
const expireAttempts = defineJob<WebhookJobDeps>({
  name: 'expire-webhook-attempts',
  class: 'long',
  every: '53 3 * * *',
  rights: { webhook_attempts: ['select', 'delete'], outbox: ['select'] },
  run: async ({ system, outboxRetentionDays }, _payload, { stop }) => {
    const before = formatExact(instantOf(system.clock.now() - outboxRetentionDays * DAY_MS))
    for (let deleted = BATCH_MAX; deleted === BATCH_MAX && !stop.aborted; ) {
      const { rowCount } = await asSystem(system, 'expire-webhook-attempts', tx =>
        tx.execute(sql`
          delete from webhook_attempts where (platform_id, environment, id) in (
            select platform_id, environment, id from webhook_attempts a
            where created_at < ${before}::timestamptz and not exists (select from outbox o
              where o.platform_id = a.platform_id and o.environment = a.environment and o.id = a.event_id)
            order by created_at limit ${BATCH_MAX})`),
      )
      deleted = rowCount ?? 0
    }
  },
})

export const webhookJobs = [findWaiting, expireAttempts] as const
