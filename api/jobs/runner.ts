// The queue of background jobs: the listed jobs run in one runner a class, in this process and beside any number of others.
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  Logger as QueueLogger,
  type Runner,
  run,
  type TaskList,
  type WorkerEvents,
  type WorkerPool,
} from 'graphile-worker'
import { closableClients } from '../../shared/database/connection/closable-clients.ts'
import { probePostgres } from '../../shared/database/connection/probe.ts'
import type { Logger } from '../../shared/process/logger.ts'
import { createUnlessHung } from '../../shared/process/unless-hung.ts'
import { CONCURRENCY, type Job, type JobRun } from './define-job.ts'
import { NET_MS, wakeForDueJobs } from './due-jobs.ts'
import { type LivingWorkers, watchWorkers } from './living-workers.ts'
import type { WorkerMetrics } from './metrics.ts'
import { QueuePool } from './queue-pool.ts'

export type Jobs = {
  /** Null while the queue is worked on, otherwise why not. */
  fault(): string | null
  /** Breaks off long jobs, finishes the others at work, and takes no more. */
  close(): Promise<void>
}

export type RunnerDeps = { readonly logger: Logger; readonly metrics: Pick<WorkerMetrics, 'jobs' | 'jobSeconds'> }

const RESTART_MS = 1_000
const CONNECT_MS = 10_000
/** How long the ends of the last jobs may take to be recorded, once one could not be. */
const RECORD_MS = 2_000
/** Of a job that the crontab makes: the next one comes anyway. */
const CRON_ATTEMPTS_MAX = 3

/** Works on `jobs` from the queue in the database at `databaseUrl`, which logs in as millrace_worker. `prepareJobSchema` comes first. */
export async function startJobs<D extends RunnerDeps>(
  databaseUrl: string,
  jobs: readonly Job<D, never>[],
  deps: D,
): Promise<Jobs> {
  const stop = new AbortController()
  const workerId = randomUUID()
  for (const { name } of jobs)
    for (const outcome of ['done', 'failed']) deps.metrics.jobs.inc({ job: name, outcome }, 0)
  const classes = [...new Set(jobs.map(job => job.class))]
  const living = watchWorkers(databaseUrl, deps.logger)
  const runners = await Promise.all(
    classes.map(of => {
      const own = jobs.filter(job => job.class === of)
      const taskList = tasksOf(own, deps, { workerId, stop: stop.signal })
      return keepRunning({
        databaseUrl,
        jobs: own,
        taskList,
        concurrency: CONCURRENCY[of],
        logger: deps.logger,
        living,
      })
    }),
  ).catch(async error => {
    await living.close()
    throw error
  })
  return {
    fault: () => runners.map(runner => runner.fault()).find(fault => fault !== null) ?? null,
    close: async () => {
      stop.abort(new Error('the worker stops'))
      await Promise.all(runners.map(runner => runner.close()))
      await living.close()
    },
  }
}

/** The jobs as the queue's library calls them, counted and timed. */
export const tasksOf = <D extends RunnerDeps>(
  jobs: readonly Job<D, never>[],
  deps: D,
  of: Pick<JobRun, 'workerId' | 'stop'>,
): TaskList =>
  Object.fromEntries(
    jobs.map(job => [
      job.name,
      async (payload, { job: { attempts, max_attempts } }) => {
        const end = deps.metrics.jobSeconds.startTimer({ job: job.name })
        try {
          // The queue has a job of this name from `queueJobs`, which takes its payload's type, or from the crontab, which has none.
          await job.run(deps, payload as never, { ...of, attempt: attempts, attemptsMax: max_attempts })
          deps.metrics.jobs.inc({ job: job.name, outcome: 'done' })
        } catch (error) {
          deps.metrics.jobs.inc({ job: job.name, outcome: 'failed' })
          throw error
        } finally {
          end()
        }
      },
    ]),
  )

export const crontabOf = (jobs: readonly Pick<Job<never, never>, 'name' | 'every'>[]): string =>
  jobs
    .filter(({ every }) => every !== undefined)
    .map(({ name, every }) => `${every} ${name} ?jobKey=${name}&max=${CRON_ATTEMPTS_MAX}\n`)
    .join('')

type Running = {
  readonly databaseUrl: string
  readonly jobs: readonly Pick<Job<never, never>, 'name' | 'every' | 'atStart'>[]
  readonly taskList: TaskList
  readonly concurrency: number
  readonly logger: Logger
  readonly living: LivingWorkers
}

/** A runner that is started again when it ends by itself, as it does when PostgreSQL dies while the end of a job is recorded. */
async function keepRunning(of: Running): Promise<Jobs> {
  const closing = new AbortController()
  let fault: string | null = null
  const failed = (error: unknown): void => {
    fault = `the job queue failed: ${error instanceof Error ? error.message : String(error)}`
  }
  let queue: Queue | null = await startRunner(of, failed)
  const ended = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        queue ??= await startRunner(of, failed)
        fault = queue.hasFailed() ? fault : null
        // Closed while it started: no one else stops it.
        if (closing.signal.aborted) await queue.stop()
        await queue.ended
        fault = 'the job queue was left'
      } catch (error) {
        failed(error)
        of.logger.warn({ err: error }, 'the job queue failed; it is started again')
      }
      await queue?.close()
      queue = null
      await sleep(RESTART_MS, undefined, { signal: closing.signal }).catch(() => undefined) // closing ends the pause
    }
    fault = 'the job queue was left'
  }
  const running = ended()
  return {
    fault: () => fault,
    close: async () => {
      closing.abort()
      // One that has just ended by itself is stopped already.
      await queue?.stop().catch(() => undefined)
      await running
    },
  }
}

type Queue = {
  /** Settles when no job is at work any more, and none will be. */
  readonly ended: Promise<void>
  /** Whether the end of a job could not be recorded. It takes no more jobs then, and ends with those at work. */
  hasFailed(): boolean
  /** Takes no more jobs and waits for those at work; while PostgreSQL hangs, no longer than it takes to notice. */
  stop(): Promise<void>
  /** Of one that has ended. */
  close(): Promise<void>
}

/** `onFailed` is called as soon as the end of a job could not be recorded, which others at work may outlast by minutes. */
async function startRunner(
  { databaseUrl, jobs, taskList, concurrency, logger, living }: Running,
  onFailed: (error: unknown) => void,
): Promise<Queue> {
  const { Client, cutAll, closeAll } = closableClients()
  const pool = new QueuePool({
    Client,
    connectionString: databaseUrl,
    max: concurrency + 2,
    connectionTimeoutMillis: CONNECT_MS,
  })
  const onLost = (error: Error): void => logger.warn({ err: error }, 'a database connection of the job queue was lost')
  pool.on('error', onLost)
  pool.on('connect', client => client.on('error', onLost))
  const guard = createUnlessHung('PostgreSQL', signal => probePostgres(databaseUrl, signal))
  const events: WorkerEvents = new EventEmitter()
  // The library locks jobs in the name of the pool of its workers.
  const names = new Set<string>()
  let workers: WorkerPool | null = null
  events.on('pool:create', ({ workerPool }) => {
    workers = workerPool
    names.add(workerPool.id)
    living.add(workerPool.id)
  })
  const closing = new AbortController()
  const close = async () => {
    closing.abort()
    await closeAll(pool.end())
    for (const name of names) living.remove(name)
  }
  let runner: Runner | null = null
  let isFailed = false
  events.once('pool:fatalError', ({ error }) => {
    isFailed = true
    onFailed(error)
  })
  const stuck = endAfterFailure(events)
  try {
    runner = await run({
      pgPool: pool,
      events,
      noHandleSignals: true,
      crontab: crontabOf(jobs),
      taskList,
      logger: queueLogger(logger),
      preset: {
        worker: {
          concurrentJobs: concurrency,
          pollInterval: NET_MS,
          // Without a batch of its own, the library records the end of a job in a promise no one awaits: one that fails, because
          // PostgreSQL died, would end the process. In a batch it ends the runner, which is started again.
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
    })
    for (const { name, atStart } of jobs)
      if (atStart) await runner.addJob(name, {}, { jobKey: name, maxAttempts: CRON_ATTEMPTS_MAX })
  } catch (error) {
    // Another one is started: this one must not work on beside it, where no one stops it.
    await guard.answerOf(runner?.stop() ?? Promise.resolve(), cutAll).catch(() => undefined)
    await close()
    throw error
  }
  const started = runner
  // The library refuses to wake workers that have ended.
  for (const end of ['pool:gracefulShutdown', 'pool:forcefulShutdown', 'pool:release'] as const)
    events.once(end, () => closing.abort())
  wakeForDueJobs(pool, { names: Object.keys(taskList), concurrency, workers: () => workers }, closing.signal).catch(
    (error: unknown) =>
      logger.warn({ err: error }, 'workers are not woken for due jobs any more; they search by themselves'),
  )
  const ended = Promise.race([started.promise, stuck])
  ended.catch(() => undefined) // while one that has just started is stopped, no one waits for it yet
  return {
    ended,
    hasFailed: () => isFailed,
    stop: () => guard.answerOf(Promise.race([started.stop(), stuck]), cutAll),
    close,
  }
}

/**
 * Rejects with the error for which the end of a job could not be recorded, a while after the last job has ended. The runner's own
 * promise does not always settle then: when two ends could not be recorded, the library (0.17.3, `batch` in its main.js) counts one of
 * them twice among those that are done, and waits for a number below zero to become zero.
 */
function endAfterFailure(events: WorkerEvents): Promise<never> {
  const stuck = new Promise<never>((_, reject) => {
    events.once('pool:fatalError', ({ error }) => {
      const end = (): void => void setTimeout(reject, RECORD_MS, error)
      events.once('pool:gracefulShutdown:complete', end)
      events.once('pool:forcefulShutdown:complete', end)
      events.once('pool:forcefulShutdown:error', end)
    })
  })
  stuck.catch(() => undefined) // a runner that was never started is not waited for
  return stuck
}

// The library tells of every job it takes and finishes; that is what its own tables and our metrics are for.
const queueLogger = (logger: Logger): QueueLogger =>
  new QueueLogger(() => (level, message) => {
    if (level === 'error' || level === 'warning') logger.warn({ queue: level }, message)
    else logger.debug({ queue: level }, message)
  })
