// The worker of a test: what its jobs work with, in the worker's own role, and a queue that the test empties by itself.
import { Registry } from 'prom-client'
import type { Database } from '../../shared/database/database.ts'
import { type Logger, silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import type { Job } from '../jobs/define-job.ts'
import { prepareJobSchema } from '../jobs/job-schema.ts'
import { createWorkerMetrics, type WorkerMetrics } from '../jobs/metrics.ts'
import { runJob } from '../jobs/testing/run-job.ts'
import type { ApiHarness } from './harness.ts'
import type { Row } from './wire.ts'

type OfApi = Pick<ApiHarness, 'databaseUrl' | 'database' | 'clock' | 'sql'>
type Queued = { readonly name: string; readonly payload: Row }

/** What every job is given; some need more. */
export type TestWorkerDeps = {
  readonly database: Database
  /** In the role millrace_worker. */
  readonly system: Database
  readonly metrics: WorkerMetrics
  readonly logger: Logger
  /** There is none. */
  readonly taxEngine: null
}

export type TestWorker = {
  readonly deps: TestWorkerDeps
  /** Takes all jobs out of the queue, the oldest first. */
  takeQueued(): Promise<Queued[]>
  /** Runs the job called `name`, and after it those of `jobs` that wait, until none does. Returns the names in the order of their runs. */
  run(jobs: readonly Job<TestWorkerDeps, never>[], name: string): Promise<string[]>
  close(): Promise<void>
}

/** A connection in the worker's role, by the clock of the test. */
export const openWorkerDatabase = ({ databaseUrl: url, clock }: Pick<OfApi, 'databaseUrl' | 'clock'>, poolMax = 2) =>
  openTestDatabase({ url, role: 'millrace_worker', clock, logger: silentLogger, poolMax })

/** The worker on the database of an api. A search for what is due reads all tenants, so the api is one of `startOwnApi`. */
export async function openWorker(api: OfApi, poolMax?: number): Promise<TestWorker> {
  await prepareJobSchema(api.databaseUrl)
  const system = await openWorkerDatabase(api, poolMax)
  const metrics = createWorkerMetrics(new Registry())
  const deps = { database: api.database, system, metrics, logger: silentLogger, taxEngine: null }
  const takeQueued = async (): Promise<Queued[]> => {
    const rows = await api.sql(
      `with taken as (delete from graphile_worker._private_jobs returning id, task_id, payload)
       select t.identifier as name, j.payload from taken j join graphile_worker._private_tasks t on t.id = j.task_id
       order by j.id`,
    )
    return rows as Queued[]
  }
  return {
    deps,
    takeQueued,
    run: async (jobs, name) => {
      const names: string[] = []
      const waiting: Queued[] = [{ name, payload: {} }]
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        await runJob(jobs, next.name, deps, next.payload)
        names.push(next.name)
        waiting.push(...(await takeQueued()))
      }
      return names
    },
    close: () => system.close(),
  }
}
