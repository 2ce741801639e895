// Bulk actions as jobs: queued when they are created, and again when the worker that ran one was killed.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Environment } from '../../../../shared/tenant.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { defineJob, queueJobs } from '../../../jobs/define-job.ts'
import { tenantOf } from '../../../jobs/tenant-jobs.ts'
import { onHeads } from '../../../workers/reaction.ts'
import type { EngineDeps } from '../tax/answers/query-engine.ts'
import { type BulkDeps, runBulkAction } from './run-bulk-action.ts'

/** Names a bulk action across tenants. */
type DueAction = { platform_id: string; environment: Environment; id: string }

const BULK_ACTION = { name: 'bulk-action', attemptsMax: 12 }
/** One invoice takes less than this. An action without progress for longer has lost its worker. */
const SILENT_MS = 60_000
const LOST_MAX = 1_000

const queueActions = (tx: SystemTransaction, due: readonly DueAction[]): Promise<void> =>
  queueJobs(
    tx,
    BULK_ACTION,
    due.map(payload => ({ key: payload.id, payload })),
  )

export const bulkActionReactions = [
  onHeads(['BULK_ACTION.CREATED'], (tx, rows) =>
    queueActions(
      tx,
      rows.map(({ platform_id, environment, object_id }) => ({ platform_id, environment, id: object_id })),
    ),
  ),
]

export type BulkJobDeps = BulkDeps &
  EngineDeps & {
    /** In the role millrace_worker. */
    readonly system: Database
  }

export const bulkActionJobs = [
  defineJob<BulkJobDeps>({
    name: 'find-lost-bulk-actions',
    class: 'short',
    every: '* * * * *',
    rights: { bulk_actions: ['select'] },
    run: async ({ system }) => {
      const silentSince = formatInstant(instantOf(system.clock.now() - SILENT_MS))
      await asSystem(system, 'find-lost-bulk-actions', async tx => {
        const { rows } = await tx.execute<DueAction>(sql`
          select b.platform_id, b.environment, b.id from bulk_actions b
          where b.status in ('SCHEDULED', 'IN_PROGRESS') and b.updated_at < ${silentSince}::timestamptz
            and not exists (select from graphile_worker.jobs j
              where j.key = ${`${BULK_ACTION.name}:`} || b.id and j.locked_at is null and j.attempts < j.max_attempts)
          limit ${LOST_MAX}`)
        await queueActions(tx, rows)
      })
    },
  }),
  defineJob<BulkJobDeps, DueAction>({
    ...BULK_ACTION,
    class: 'short',
    rights: {},
    run: (deps, due, { attempt, attemptsMax }) =>
      runBulkAction(deps, { tenant: tenantOf(due), id: idOf('bulk', due.id), last: attempt >= attemptsMax }),
  }),
] as const
