// Jobs of which there is one a tenant: it takes what waits there, one after the other.
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { TaskList } from 'graphile-worker'
import type { SystemTransaction } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/logger.ts'
import type { Environment } from '../../shared/tenant.ts'
import type { Lease } from '../modules/files/process/lease.ts'
import type { OutboxRow } from './audit-entry.ts'
import { type Jobs, startRunner } from './jobs.ts'

/** A tenant for which something waits; the payload of its job. */
export type WaitingTenant = { platform_id: string; environment: Environment; ready_at?: string | null }

/** Who takes a lease, and what tells them to let go of it. */
export type LeaseTaker = { readonly workerId: string; readonly stop: AbortSignal }

/** Works on these tasks in a runner of their own. Closing breaks off what is at work; another worker goes on with it. */
export async function startLeaseRunner(
  databaseUrl: string,
  options: Omit<Parameters<typeof startRunner>[1], 'taskList'> & { readonly tasksOf: (of: LeaseTaker) => TaskList },
): Promise<Jobs> {
  const { tasksOf, ...rest } = options
  const stop = new AbortController()
  const taskList = tasksOf({ workerId: randomUUID(), stop: stop.signal })
  const jobs = await startRunner(databaseUrl, { ...rest, taskList })
  return {
    fault: jobs.fault,
    close: async () => {
      stop.abort(new Error('the worker stops'))
      await jobs.close()
    },
  }
}

/** Queues `task` for each, for when it is ready. One job a tenant, however often asked for. */
export async function queueTenants(
  tx: SystemTransaction,
  task: string,
  waiting: readonly WaitingTenant[],
): Promise<void> {
  if (waiting.length === 0) return
  await tx.execute(sql`
    select count(graphile_worker.add_job(identifier => ${task},
      payload => json_build_object('platform_id', w.platform_id, 'environment', w.environment),
      job_key => ${`${task}:`} || w.platform_id || ':' || w.environment, run_at => greatest(now(), w.ready_at)))
    from jsonb_to_recordset(${JSON.stringify(waiting)}::jsonb) as w(platform_id text, environment text, ready_at timestamptz)`)
}

/** The tenants of these changes that made a file such. */
export function tenantsWithFiles(rows: readonly OutboxRow[], isSuch: (status: unknown) => boolean): WaitingTenant[] {
  const tenants = new Map<string, WaitingTenant>()
  for (const { object_type, data, platform_id, environment } of rows) {
    if (object_type !== 'FILE' || !isSuch(data['status'])) continue
    tenants.set(`${platform_id}/${environment}`, { platform_id, environment })
  }
  return [...tenants.values()]
}

/**
 * Works on the file that was taken, counts how that ended, and gives the file back. Throws what stopped the work, so that the
 * queue tries the job again, later each time; not when the worker stops or the file is somebody else's now.
 */
export async function workUnderLease(
  lease: Lease,
  of: {
    readonly work: () => Promise<string>
    readonly count: (outcome: string) => void
    readonly logger: Logger
  },
): Promise<void> {
  try {
    of.count((await of.work()).toLowerCase())
  } catch (error) {
    of.count('interrupted')
    if (lease.signal.aborted) return
    of.logger.warn({ err: error, fileId: lease.fileId }, 'a file could not be gone on with; it is tried again')
    throw error
  } finally {
    await lease.release()
  }
}
