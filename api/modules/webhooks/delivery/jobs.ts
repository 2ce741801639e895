// What is done for webhooks from time to time.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../../shared/database/database.ts'
import { instantOf } from '../../../../shared/time.ts'
import { defineJob } from '../../../jobs/define-job.ts'
import { formatExact, QUEUE_RIGHTS } from './queue-store.ts'

export type WebhookJobDeps = {
  /** In the role millrace_worker. */
  readonly system: Database
  readonly outboxRetentionDays: number
}

/**
 * Makes due what nobody told of its events: a webhook that was made while they were on their way. One that wants none of them moves
 * on, and is found no more.
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

/** Deletes attempts as old as the outbox keeps events whose event is gone. Without its attempts, an event would seem never to have been sent. */
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
