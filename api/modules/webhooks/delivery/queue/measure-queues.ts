// Metrics of deliveries, over all tenants.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../../../shared/database/database.ts'
import type { WorkerMetrics } from '../../../../jobs/metrics.ts'
import { formatExact } from './queue-store.ts'

type Measured = {
  healthy: number
  failing: number
  disabled: number
  healthy_seconds: number
  failing_seconds: number
}

/** Sets the gauges of queues. */
export async function measureQueues(
  system: Database,
  metrics: Pick<WorkerMetrics, 'webhookOldest' | 'webhookQueues'>,
): Promise<void> {
  const now = formatExact(system.clock.now())
  const seconds = sql`coalesce(extract(epoch from ${now}::timestamptz - min(q.waiting_since)`
  const { rows } = await asSystem(system, 'send-webhooks', tx =>
    tx.execute<Measured>(sql`
      select count(*) filter (where w.active and q.failures = 0)::int as healthy,
        count(*) filter (where w.active and q.failures > 0)::int as failing,
        count(*) filter (where w.disabled_reason is not null)::int as disabled,
        ${seconds} filter (where w.active and q.failures = 0)), 0)::float8 as healthy_seconds,
        ${seconds} filter (where w.active and q.failures > 0)), 0)::float8 as failing_seconds
      from webhook_queues q
      join webhooks w on w.platform_id = q.platform_id and w.environment = q.environment and w.id = q.webhook_id`),
  )
  const [row] = rows
  if (!row) return
  metrics.webhookQueues.set({ class: 'healthy' }, row.healthy)
  metrics.webhookQueues.set({ class: 'failing' }, row.failing)
  metrics.webhookQueues.set({ class: 'disabled' }, row.disabled)
  metrics.webhookOldest.set({ class: 'healthy' }, Math.max(0, row.healthy_seconds))
  metrics.webhookOldest.set({ class: 'failing' }, Math.max(0, row.failing_seconds))
}
