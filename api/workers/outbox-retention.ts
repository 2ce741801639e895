// How long the outbox keeps what its consumers have passed. The audit trail has records of its own and is kept.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/process/logger.ts'
import { defineJob } from '../jobs/define-job.ts'
import type { WorkerMetrics } from '../jobs/metrics.ts'
import type { OutboxConsumer } from './outbox-consumer.ts'

/** Rows carry whole resources, so one transaction deletes few. */
const BATCH_MAX = 1_000

/** So many times as long are changes kept for a consumer that has not read them. */
const UNREAD_FACTOR = 3

/**
 * Deletes the changes that are more than `days` old and that everyone has passed, in bounded transactions until `stop`; returns how
 * many, and how many of them a consumer had not read. The relay has passed a change when it has given it its position, since it
 * writes its audit record and queues its jobs with it; each of `consumers` has passed what its cursor has. A consumer that stands
 * still holds changes back for `UNREAD_FACTOR` times as long, not for ever. Ages are by the database's clock.
 */
async function deletePassed(
  database: Database,
  of: { readonly days: number; readonly consumers: readonly string[]; readonly stop: AbortSignal },
): Promise<{ deleted: number; unread: number }> {
  const total = { deleted: 0, unread: 0 }
  for (;;) {
    const batch = await asSystem(database, 'expire-outbox', tx => deleteBatch(tx, of))
    total.deleted += batch.length
    total.unread += batch.filter(({ is_unread }) => is_unread).length
    if (batch.length < BATCH_MAX || of.stop.aborted) return total
  }
}

async function deleteBatch(
  tx: SystemTransaction,
  { days, consumers }: { readonly days: number; readonly consumers: readonly string[] },
): Promise<readonly { is_unread: boolean }[]> {
  const cursors = await tx.execute<{ position: string | null }>(sql`
    select min(position)::text as position from outbox_consumers
    where name in (select jsonb_array_elements_text(${JSON.stringify(consumers)}::jsonb))`)
  const read = cursors.rows[0]?.position ?? null
  const isUnread = read === null ? sql`false` : sql`position > ${read}::bigint`
  const deleted = await tx.execute<{ is_unread: boolean }>(sql`
    delete from outbox where position in (
      select position from outbox
      where position is not null and created_at < now() - make_interval(days => ${days})
        and not (${isUnread} and created_at >= now() - make_interval(days => ${days * UNREAD_FACTOR}))
      -- A row may hold the resource of those before it.
      order by created_at, position limit ${BATCH_MAX})
    returning ${isUnread} as is_unread`)
  return deleted.rows
}

type Deps = {
  readonly system: Database
  readonly outboxRetentionDays: number
  readonly logger: Logger
  readonly metrics: Pick<WorkerMetrics, 'expiredChanges' | 'unreadChanges'>
}

/** The job that keeps the outbox short, for an outbox that these consumers follow. */
export const expireOutbox = (consumers: readonly Pick<OutboxConsumer, 'name'>[]) =>
  defineJob<Deps>({
    name: 'expire-outbox',
    class: 'long',
    every: '41 3 * * *',
    rights: { outbox: ['select', 'delete'], outbox_consumers: ['select'] },
    run: async ({ system, outboxRetentionDays, metrics, logger }, _payload, { stop }) => {
      const names = consumers.map(({ name }) => name)
      const { deleted, unread } = await deletePassed(system, { days: outboxRetentionDays, consumers: names, stop })
      metrics.expiredChanges.inc(deleted)
      metrics.unreadChanges.inc(unread)
      if (unread > 0) logger.error({ unread }, 'changes were deleted that a consumer of the outbox had not read')
    },
  })
