// Reprocesses as jobs: queued when they are made, started when their delay has passed, tried again until they end.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import type { Environment, Tenant } from '../../shared/tenant.ts'
import { formatInstant, instantOf } from '../../shared/time.ts'
import type { ReprocessRun } from '../modules/reprocess/run-reprocess.ts'
import type { OutboxRow } from './audit-entry.ts'

/** Names a reprocess across tenants; the payload of a `reprocess` job. */
export type DueReprocess = {
  platform_id: string
  environment: Environment
  id: string
  scheduled_at: string
}

export const REPROCESS = 'reprocess'

/** With the queue's growing pauses about two hours: longer than usage is away without somebody being told of it. */
const ATTEMPTS_MAX = 12

/** The reprocesses a batch of changes asks for. */
export const reprocessesOf = (rows: readonly OutboxRow[]): DueReprocess[] =>
  rows
    .filter(({ type }) => type === 'REPROCESS.CREATED')
    .map(({ platform_id, environment, object_id, data }) => ({
      platform_id,
      environment,
      id: object_id,
      scheduled_at: String(data['scheduled_at']),
    }))

/** Queues each, once however often it is asked for. */
export async function queueReprocesses(tx: SystemTransaction, due: readonly DueReprocess[]): Promise<void> {
  if (due.length === 0) return
  await tx.execute(sql`
    select count(graphile_worker.add_job(identifier => ${REPROCESS}, payload => to_json(d), run_at => d.scheduled_at,
      max_attempts => ${ATTEMPTS_MAX}, job_key => ${`${REPROCESS}:`} || d.id))
    from jsonb_to_recordset(${JSON.stringify(due)}::jsonb)
      as d(platform_id text, environment text, id text, scheduled_at timestamptz)`)
}

/** A run that has shown no sign of life for so long was killed, or lost its database; an invoice takes less. */
const SILENT_MS = 30_000
const LOST_MAX = 1_000

/**
 * The reprocesses nobody works on: the queue holds a job of a killed worker locked for hours. One whose job waits for its
 * next try is not lost.
 */
export async function findLostReprocesses(database: Database): Promise<DueReprocess[]> {
  const silentSince = formatInstant(instantOf(database.clock.now() - SILENT_MS))
  const found = await asSystem(database, 'find-lost-reprocesses', tx =>
    tx.execute<DueReprocess>(sql`
      select r.platform_id, r.environment, r.id, r.scheduled_at::text from reprocesses r
      where r.status in ('SCHEDULED', 'IN_PROGRESS')
        and greatest(r.scheduled_at, r.updated_at) < ${silentSince}::timestamptz
        and not exists (select from graphile_worker.jobs j
          where j.key = ${`${REPROCESS}:`} || r.id and j.locked_at is null and j.attempts < j.max_attempts)
      order by r.scheduled_at limit ${LOST_MAX}`),
  )
  return found.rows
}

/** What a job asks to be run. */
export function runOf(
  due: DueReprocess,
  job: { readonly attempts: number; readonly max_attempts: number },
): ReprocessRun {
  const tenant: Tenant = { platformId: due.platform_id, environment: due.environment }
  return { tenant, id: due.id, last: job.attempts >= job.max_attempts }
}
