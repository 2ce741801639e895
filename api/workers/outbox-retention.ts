// How long the outbox keeps what its consumers have passed. The audit trail has records of its own and is kept.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../shared/database/database.ts'
import { defineJob } from '../jobs/define-job.ts'
import type { WorkerMetrics } from '../jobs/metrics.ts'

/** Rows carry whole resources, so one transaction deletes few. */
const BATCH_MAX = 1_000

/**
 * Deletes the changes that are more than `days` old and relayed, in bounded transactions until `stop`; returns how many. A change
 * has its position once the relay, today the one consumer, has written its audit record and queued its jobs, in one transaction.
 * A consumer that follows positions at its own pace keeps what is after its position: it adds that condition here. Ages are by the
 * database's clock.
 */
async function deleteRelayed(database: Database, days: number, stop: AbortSignal): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await asSystem(database, 'expire-outbox', async tx => {
      const result = await tx.execute(sql`
        delete from outbox where position in (
          select position from outbox
          where position is not null and created_at < now() - make_interval(days => ${days})
          order by created_at limit ${BATCH_MAX})`)
      return result.rowCount ?? 0
    })
    total += deleted
    if (deleted < BATCH_MAX || stop.aborted) return total
  }
}

export const expireOutbox = defineJob<{
  readonly system: Database
  readonly outboxRetentionDays: number
  readonly metrics: Pick<WorkerMetrics, 'expiredChanges'>
}>({
  name: 'expire-outbox',
  class: 'long',
  every: '41 3 * * *',
  rights: { outbox: ['select', 'delete'] },
  run: async ({ system, outboxRetentionDays, metrics }, _payload, { stop }) => {
    metrics.expiredChanges.inc(await deleteRelayed(system, outboxRetentionDays, stop))
  },
})
