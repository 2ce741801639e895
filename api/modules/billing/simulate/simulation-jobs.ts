// Simulations as jobs: queued when they are created, retried until they end, and found again when their worker died.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../../../shared/database/database.ts'
import type { Environment } from '../../../../shared/tenant.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { defineJob, queueJobs } from '../../../jobs/define-job.ts'
import { tenantOf } from '../../../jobs/tenant-jobs.ts'
import { on } from '../../../workers/reaction.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { runSimulation } from './run-simulation.ts'

type DueSimulation = { readonly platform_id: string; readonly environment: Environment; readonly id: string }

/** With the growing delays of the queue, about two hours. */
const ATTEMPTS_MAX = 12
const SIMULATION = { name: 'simulate-pricing-plan-version', attemptsMax: ATTEMPTS_MAX }

const queueSimulations = (tx: SystemTransaction, due: readonly DueSimulation[]): Promise<void> =>
  queueJobs(
    tx,
    SIMULATION,
    due.map(payload => ({ key: payload.id, payload })),
  )

export const simulationReactions = [
  on(['PRICING_PLAN_VERSION_SIMULATION.CREATED'], (tx, rows) =>
    queueSimulations(
      tx,
      rows.map(({ platform_id, environment, object_id }) => ({ platform_id, environment, id: object_id })),
    ),
  ),
]

/** A run without progress for this long was killed or lost its database; a group of customers takes seconds. */
const SILENT_MS = 60_000
const LOST_MAX = 1_000

/** The simulations that no worker runs: the queue keeps the job of a killed worker locked for hours. */
export async function findLostSimulations(database: Database): Promise<DueSimulation[]> {
  const silentSince = formatInstant(instantOf(database.clock.now() - SILENT_MS))
  const found = await asSystem(database, 'find-lost-simulations', tx =>
    tx.execute<DueSimulation>(sql`
      select s.platform_id, s.environment, s.id from pricing_plan_version_simulations s
      where s.finished_at is null and s.updated_at < ${silentSince}::timestamptz
        and not exists (select from graphile_worker.jobs j
          where j.key = ${`${SIMULATION.name}:`} || s.id and j.locked_at is null and j.attempts < j.max_attempts)
      order by s.updated_at limit ${LOST_MAX}`),
  )
  return found.rows
}

export type SimulationJobDeps = BillingDeps & {
  /** In the role millrace_worker. */
  readonly system: Database
}

export const simulationJobs = [
  defineJob<SimulationJobDeps>({
    name: 'find-lost-simulations',
    class: 'short',
    every: '* * * * *',
    rights: { pricing_plan_version_simulations: ['select'] },
    run: async ({ system }) => {
      const lost = await findLostSimulations(system)
      await asSystem(system, 'find-lost-simulations', tx => queueSimulations(tx, lost))
    },
  }),
  defineJob<SimulationJobDeps, DueSimulation>({
    ...SIMULATION,
    class: 'long',
    rights: {},
    run: (deps, due, { attempt, attemptsMax, stop }) =>
      runSimulation(deps, { tenant: tenantOf(due), id: due.id, last: attempt >= attemptsMax, stop }),
  }),
] as const
