// Stored answers of Idempotency-Keys are kept 48 hours (semantics 9.5).
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../shared/database/database.ts'
import { defineJob } from '../../jobs/define-job.ts'
import type { WorkerMetrics } from '../../jobs/metrics.ts'

const KEPT_HOURS = 48
const BATCH_MAX = 5_000

/** Removes what has been kept long enough, in bounded transactions; returns how many. Ages are by the database's clock, as the times are. */
async function expireIdempotencyKeys(database: Database): Promise<number> {
  for (let total = 0; ; ) {
    const removed = await asSystem(database, 'expire-idempotency-keys', async tx => {
      const result = await tx.execute(sql`
        delete from idempotency_keys where (platform_id, environment, method, path, key) in (
          select platform_id, environment, method, path, key from idempotency_keys
          where created_at < now() - make_interval(hours => ${KEPT_HOURS}) limit ${BATCH_MAX})`)
      return result.rowCount ?? 0
    })
    total += removed
    if (removed < BATCH_MAX) return total
  }
}

export const expireKeys = defineJob<{
  readonly system: Database
  readonly metrics: Pick<WorkerMetrics, 'expiredKeys'>
}>({
  name: 'expire-idempotency-keys',
  class: 'short',
  every: '7 * * * *',
  rights: { idempotency_keys: ['select', 'delete'] },
  run: async ({ system, metrics }) => {
    metrics.expiredKeys.inc(await expireIdempotencyKeys(system))
  },
})
