// Reprocesses as jobs: queued when they are created, started after their delay, and retried until they end.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../../../shared/database/database.ts'
import type { Environment } from '../../../../shared/tenant.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { defineJob, queueJobs } from '../../../jobs/define-job.ts'
import { tenantOf } from '../../../jobs/tenant-jobs.ts'
import type { OutboxRow } from '../../../workers/outbox-row.ts'
import { on } from '../../../workers/reaction.ts'
import { type ReprocessDeps, type ReprocessRun, runReprocess } from './run-reprocess.ts'

/** Names a reprocess across tenants; the payload of a `reprocess` job. */
export type DueReprocess = {
  platform_id: string
  environment: Environment
  id: string
  scheduled_at: string
}

/** With the growing delays of the queue, about two hours. An outage of usage that lasts longer raises an alert. */
const ATTEMPTS_MAX = 12

const reprocessOf = ({ platform_id, environment, object_id, data }: OutboxRow): DueReprocess => ({
  platform_id,
  environment,
  id: object_id,
  scheduled_at: String(data.scheduled_at),
})

const REPROCESS = { name: 'reprocess', attemptsMax: ATTEMPTS_MAX }

/** Queues each reprocess to start after its delay. */
export const queueReprocesses = (tx: SystemTransaction, due: readonly DueReprocess[]): Promise<void> =>
  queueJobs(
    tx,
    REPROCESS,
    due.map(payload => ({ key: payload.id, payload, runAt: payload.scheduled_at })),
  )

export const reprocessReactions = [on(['REPROCESS.CREATED'], (tx, rows) => queueReprocesses(tx, rows.map(reprocessOf)))]

/** A run without progress for this long was killed or lost its database; one invoice takes less. */
const SILENT_MS = 30_000
const LOST_MAX = 1_000

/**
 * The reprocesses that no worker runs: the queue keeps the job of a killed worker locked for hours. A reprocess whose
 * job waits for its next try is not included.
 */
export async function findLostReprocesses(database: Database): Promise<DueReprocess[]> {
  const silentSince = formatInstant(instantOf(database.clock.now() - SILENT_MS))
  const found = await asSystem(database, 'find-lost-reprocesses', tx =>
    tx.execute<DueReprocess>(sql`
      select r.platform_id, r.environment, r.id, r.scheduled_at::text from reprocesses r
      where r.status in ('SCHEDULED', 'IN_PROGRESS')
        and greatest(r.scheduled_at, r.updated_at) < ${silentSince}::timestamptz
        and not exists (select from graphile_worker.jobs j
          where j.key = ${`${REPROCESS.name}:`} || r.id and j.locked_at is null and j.attempts < j.max_attempts)
      order by r.scheduled_at limit ${LOST_MAX}`),
  )
  return found.rows
}

export type ReprocessJobDeps = ReprocessDeps & {
  /** In the role millrace_worker. */
  readonly system: Database
}

/** The jobs of reprocesses; `work` runs one reprocess. */
export const reprocessJobs = (work: (deps: ReprocessDeps, run: ReprocessRun) => Promise<void> = runReprocess) =>
  [
    defineJob<ReprocessJobDeps>({
      name: 'find-lost-reprocesses',
      class: 'short',
      every: '* * * * *',
      rights: { reprocesses: ['select'] },
      run: async ({ system }) => {
        const lost = await findLostReprocesses(system)
        await asSystem(system, 'find-lost-reprocesses', tx => queueReprocesses(tx, lost))
      },
    }),
    defineJob<ReprocessJobDeps, DueReprocess>({
      ...REPROCESS,
      class: 'short',
      rights: {},
      run: (deps, due, { attempt, attemptsMax }) =>
        work(deps, { tenant: tenantOf(due), id: due.id, last: attempt >= attemptsMax }),
    }),
  ] as const
