// The queue of background jobs: what runs when, in this process and beside any number of others.
import { Logger as QueueLogger, run, type TaskList } from 'graphile-worker'
import { asSystem, type Database } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/logger.ts'
import type { ReprocessRun } from '../modules/reprocess/run-reprocess.ts'
import {
  BILLING_RUN,
  type BillingRunDeps,
  billSubscription,
  type DueSubscription,
  findDueBilling,
  queueBilling,
} from './billing-run.ts'
import { expireIdempotencyKeys } from './expire-idempotency-keys.ts'
import type { WorkerMetrics } from './metrics.ts'
import { type DueReprocess, findLostReprocesses, queueReprocesses, REPROCESS, runOf } from './reprocess.ts'
import { verifyAudit } from './verify-audit.ts'

export type JobDeps = {
  /** In the role millrace_worker. */
  readonly database: Database
  readonly billing: BillingRunDeps
  readonly reprocess: (run: ReprocessRun) => Promise<void>
  readonly metrics: WorkerMetrics
  readonly logger: Logger
}

const FIND_DUE_BILLING = 'find-due-billing'
const FIND_LOST_REPROCESSES = 'find-lost-reprocesses'
const EXPIRE_IDEMPOTENCY_KEYS = 'expire-idempotency-keys'
const VERIFY_AUDIT = 'verify-audit'

// Each subscription has its own next_billing_at; the minute is how late a look may come. A change is queued at once besides.
const CRONTAB = `
* * * * * ${FIND_DUE_BILLING} ?jobKey=${FIND_DUE_BILLING}&max=3
* * * * * ${FIND_LOST_REPROCESSES} ?jobKey=${FIND_LOST_REPROCESSES}&max=3
7 * * * * ${EXPIRE_IDEMPOTENCY_KEYS} ?jobKey=${EXPIRE_IDEMPOTENCY_KEYS}&max=3
23 3 * * * ${VERIFY_AUDIT} ?jobKey=${VERIFY_AUDIT}&max=3
`

const CONCURRENCY = 2
const POLL_MS = 2_000
const POOL_MAX = 4

export const tasksOf = (deps: JobDeps): TaskList => ({
  [FIND_DUE_BILLING]: async () => {
    const due = await findDueBilling(deps.database)
    await asSystem(deps.database, 'find-due-billing', tx => queueBilling(tx, due))
  },
  [BILLING_RUN]: async payload => {
    // Only queueBilling makes these jobs.
    const due = payload as DueSubscription
    const again = await billSubscription(deps.billing, due)
    if (again) await asSystem(deps.database, 'find-due-billing', tx => queueBilling(tx, [due]))
  },
  // Only queueReprocesses makes these jobs.
  [REPROCESS]: (payload, { job }) => deps.reprocess(runOf(payload as DueReprocess, job)),
  [FIND_LOST_REPROCESSES]: async () => {
    const lost = await findLostReprocesses(deps.database)
    await asSystem(deps.database, 'find-lost-reprocesses', tx => queueReprocesses(tx, lost))
  },
  [EXPIRE_IDEMPOTENCY_KEYS]: async () => {
    deps.metrics.expiredKeys.inc(await expireIdempotencyKeys(deps.database))
  },
  [VERIFY_AUDIT]: () => verifyAudit(deps),
})

export type Jobs = {
  /** Null while the queue is worked on, otherwise why not. */
  fault(): string | null
  /** Finishes the jobs at work and takes no more. */
  close(): Promise<void>
}

/** Works on the queue in the database at `databaseUrl`, in the role millrace_worker. `prepareJobSchema` comes first. */
export const startJobs = (databaseUrl: string, deps: JobDeps): Promise<Jobs> =>
  startRunner(databaseUrl, {
    crontab: CRONTAB,
    taskList: tasksOf(deps),
    concurrency: CONCURRENCY,
    logger: deps.logger,
  })

/** Works on these tasks alone; a second runner beside it keeps long ones from holding up short ones. */
export async function startRunner(
  databaseUrl: string,
  options: {
    readonly crontab: string
    readonly taskList: TaskList
    readonly concurrency: number
    readonly logger: Logger
  },
): Promise<Jobs> {
  const { crontab, taskList, concurrency, logger } = options
  const runner = await run({
    connectionString: inRole(databaseUrl, 'millrace_worker'),
    maxPoolSize: POOL_MAX,
    concurrency,
    pollInterval: POLL_MS,
    noHandleSignals: true,
    crontab,
    taskList,
    logger: queueLogger(logger),
  })
  let ended: string | null = null
  runner.promise.then(
    () => {
      ended = 'the job queue was left'
    },
    (error: unknown) => {
      ended = `the job queue failed: ${error instanceof Error ? error.message : String(error)}`
      logger.error({ err: error }, 'the job queue cannot go on')
    },
  )
  return {
    fault: () => ended,
    close: async () => {
      if (ended === null) await runner.stop()
    },
  }
}

function inRole(databaseUrl: string, role: string): string {
  const url = new URL(databaseUrl)
  url.searchParams.set('options', `-c role=${role}`)
  return url.href
}

// The library tells of every job it takes and finishes; that is what its own tables and our metrics are for.
const queueLogger = (logger: Logger): QueueLogger =>
  new QueueLogger(() => (level, message) => {
    if (level === 'error' || level === 'warning') logger.warn({ queue: level }, message)
    else logger.debug({ queue: level }, message)
  })
