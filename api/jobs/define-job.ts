// A background job is one value, declared in the module that owns it. When it runs, in which runner, what it counts and which
// rights the worker's role needs for it all follow from the list in its module.ts.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'

/**
 * Jobs of one class share a runner, and hold up only each other. `short`: seconds, on our own servers; `group`: seconds too, but as much work
 * as fills a core; `long`: minutes; `external`: waits for servers of others.
 */
export type JobClass = 'short' | 'group' | 'long' | 'external'

/**
 * Jobs at a time in one worker. Of groups one computes while the other waits for usage; more would be taken from workers that have none.
 * Two files may hold some 400 MB; a download holds a megabyte or two.
 */
export const CONCURRENCY: Readonly<Record<JobClass, number>> = { short: 4, group: 2, long: 2, external: 4 }

/** The run of a job that is under way. */
export type JobRun = {
  readonly attempt: number
  readonly attemptsMax: number
  /** Of the worker process: what a lease is taken in. */
  readonly workerId: string
  /** Aborted when the worker stops; a long job lets go, and another worker continues. */
  readonly stop: AbortSignal
}

export type Rights = Readonly<Record<string, readonly ('select' | 'insert' | 'update' | 'delete')[]>>

/** A background job over dependencies `D`, called with payloads `P`. */
export type Job<D, P = unknown> = {
  readonly name: string
  readonly class: JobClass
  /** When the queue makes one by itself: five fields of cron, in UTC. Otherwise only `queueJobs` does. */
  readonly every?: string
  /** Whether a worker that starts makes one as well. */
  readonly atStart?: true
  /** Lower runs first within its class; 0 by default. */
  readonly priority?: number
  /** How often a failing job is tried, with growing pauses. A job of the crontab is made anew instead, and has 3. */
  readonly attemptsMax?: number
  /** What it does to which tables in the worker's own role, across tenants. */
  readonly rights: Rights
  readonly run: (deps: D, payload: P, run: JobRun) => Promise<void>
}

/** Any job, where jobs of all dependencies and payloads meet. */
export type AnyJob = Job<never, never>

/** Declares a job. Its module lists it; a job that is not listed never runs. */
export const defineJob = <D, P = unknown>(job: Job<D, P>): Job<D, P> => job

/** One job to be queued. `key` makes it one, however often it is queued; `runAt` is ISO 8601, absent or past for at once. */
export type Waiting<P> = { readonly key: string; readonly payload: P; readonly runAt?: string | null }

/**
 * Queues `job` for each of `waiting` when the transaction commits. A job that waits is replaced by one of the same key; one that
 * is running is followed by another, so that what changed meanwhile is seen.
 */
export async function queueJobs<P>(
  tx: SystemTransaction,
  job: Pick<Job<never, P>, 'name' | 'priority' | 'attemptsMax'>,
  waiting: readonly Waiting<P>[],
): Promise<void> {
  if (waiting.length === 0) return
  const rows = waiting.map(({ key, payload, runAt }) => ({ key: `${job.name}:${key}`, payload, run_at: runAt ?? null }))
  await tx.execute(sql`
    select count(graphile_worker.add_job(identifier => ${job.name}, payload => w.payload, job_key => w.key,
      run_at => greatest(now(), w.run_at), max_attempts => ${job.attemptsMax ?? null}, priority => ${job.priority ?? null}))
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as w(key text, payload json, run_at timestamptz)`)
}
