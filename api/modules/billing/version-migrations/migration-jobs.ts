// Migrations as jobs: queued when they are created and when they are started, retried until they end, and found again when their
// worker died.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../../../shared/database/database.ts'
import type { Environment } from '../../../../shared/tenant.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { defineJob, queueJobs } from '../../../jobs/define-job.ts'
import { tenantOf } from '../../../jobs/tenant-jobs.ts'
import { on } from '../../../workers/reaction.ts'
import { type MigrationDeps, runMigration } from './run-migration.ts'

type DueMigration = { readonly platform_id: string; readonly environment: Environment; readonly id: string }

/** With the growing delays of the queue, about two hours. */
const ATTEMPTS_MAX = 12
const MIGRATION = { name: 'migrate-pricing-plan-version', attemptsMax: ATTEMPTS_MAX }

const queueMigrations = (tx: SystemTransaction, due: readonly DueMigration[]): Promise<void> =>
  queueJobs(
    tx,
    MIGRATION,
    due.map(payload => ({ key: payload.id, payload })),
  )

/** A job that finds nothing to do, as one of a migration that has ended, does nothing. */
export const migrationReactions = [
  on(['PRICING_PLAN_VERSION_MIGRATION.CREATED', 'PRICING_PLAN_VERSION_MIGRATION.UPDATED'], (tx, rows) =>
    queueMigrations(
      tx,
      rows.map(({ platform_id, environment, object_id }) => ({ platform_id, environment, id: object_id })),
    ),
  ),
]

/** A run without a sign of life for this long was killed or lost its database; a group of subscriptions takes seconds. */
const SILENT_MS = 30_000
const LOST_MAX = 1_000

/** The migrations that no worker runs: the queue keeps the job of a killed worker locked for hours. */
export async function findLostMigrations(database: Database): Promise<DueMigration[]> {
  const silentSince = formatInstant(instantOf(database.clock.now() - SILENT_MS))
  const found = await asSystem(database, 'find-lost-migrations', tx =>
    tx.execute<DueMigration>(sql`
      select s.platform_id, s.environment, s.id from pricing_plan_version_migrations s
      where s.status in ('SCHEDULED', 'IN_PROGRESS') and s.updated_at < ${silentSince}::timestamptz
        and not exists (select from graphile_worker.jobs j
          where j.key = ${`${MIGRATION.name}:`} || s.id and j.locked_at is null and j.attempts < j.max_attempts)
      order by s.updated_at limit ${LOST_MAX}`),
  )
  return found.rows
}

type MigrationJobDeps = MigrationDeps & {
  /** In the role millrace_worker. */
  readonly system: Database
}

export const migrationJobs = [
  defineJob<MigrationJobDeps>({
    name: 'find-lost-migrations',
    class: 'short',
    every: '* * * * *',
    rights: { pricing_plan_version_migrations: ['select'] },
    run: async ({ system }) => {
      const lost = await findLostMigrations(system)
      await asSystem(system, 'find-lost-migrations', tx => queueMigrations(tx, lost))
    },
  }),
  defineJob<MigrationJobDeps, DueMigration>({
    ...MIGRATION,
    class: 'long',
    rights: {},
    run: (deps, due, { attempt, attemptsMax, stop }) =>
      runMigration(deps, { tenant: tenantOf(due), id: due.id, last: attempt >= attemptsMax, stop }),
  }),
] as const
