// Jobs whose time has come: queued for later, or to be tried again. A notification brings new jobs to the workers of a runner. For the others
// the library has each worker search by itself every two seconds, in a statement that locks what it finds; here one search is for all.
import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerPool } from 'graphile-worker'
import type pg from 'pg'

/** How late a job may begin in a worker that has nothing else to do. */
const SEARCH_MS = 2_000
/** How often each worker still searches by itself, in case it could not be woken. */
export const NET_MS = 60_000

const DUE = `select count(*)::int as count from (
  select from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
  where j.is_available and j.run_at <= now() and t.identifier = any($1) limit $2) due`

/**
 * Wakes as many workers of the runner as there are jobs due, until `stop`. `workers`: the library's own, once there are any. A search that
 * fails is no fault here: the workers meet the same fault with their next job.
 */
export async function wakeForDueJobs(
  pool: Pick<pg.Pool, 'query'>,
  of: { readonly names: readonly string[]; readonly concurrency: number; readonly workers: () => WorkerPool | null },
  stop: AbortSignal,
): Promise<void> {
  const wait = (): Promise<unknown> => sleep(SEARCH_MS, undefined, { signal: stop }).catch(() => undefined) // stop ends the pause
  for (await wait(); !stop.aborted; await wait()) {
    const found = await pool.query<{ count: number }>(DUE, [of.names, of.concurrency]).catch(() => null)
    const count = found?.rows[0]?.count ?? 0
    if (count > 0 && !stop.aborted) of.workers()?.nudge(count)
  }
}
