// Files as jobs: one job a tenant whose files wait. They have a runner of their own, because a file takes minutes and a billing
// run must not wait for it. A job that dies with its worker stays locked in the queue, so the look every minute, and the one at
// the start, make another; the lease of the file says when that one may begin.
import { sql } from 'drizzle-orm'
import type { TaskList } from 'graphile-worker'
import { asSystem, type Database, inTenant, type SystemTransaction } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/logger.ts'
import type { Environment, Tenant } from '../../shared/tenant.ts'
import { instantOf } from '../../shared/time.ts'
import { takeFile, UNFINISHED_SQL } from '../modules/files/process/lease.ts'
import { type FileWorkDeps, workOnFile } from '../modules/files/process/work-on-file.ts'
import { removeAbandonedUpload } from '../modules/files/receive-content.ts'
import type { UsageReader } from '../modules/invoices/usage-reader.ts'
import type { OutboxRow } from './audit-entry.ts'
import type { Jobs } from './jobs.ts'
import type { WorkerMetrics } from './metrics.ts'
import {
  type LeaseTaker,
  queueTenants,
  startLeaseRunner,
  tenantsWithFiles,
  type WaitingTenant,
  workUnderLease,
} from './tenant-jobs.ts'

export type FileJobDeps = {
  /** In the role millrace_worker. */
  readonly database: Database
  /** Its database is in the role millrace_app: a file is worked on for one tenant, under its row-level security. */
  readonly work: FileWorkDeps
  readonly metrics: Pick<WorkerMetrics, 'files'>
  readonly logger: Logger
}

const WORK_ON_FILES = 'work-on-files'
const FIND_FILES = 'find-files'
const REMOVE_UPLOADS = 'remove-abandoned-uploads'
const CRONTAB = `
* * * * * ${FIND_FILES} ?jobKey=${FIND_FILES}&max=3
37 * * * * ${REMOVE_UPLOADS} ?jobKey=${REMOVE_UPLOADS}&max=3
`
/** Files at a time in one worker; the references of one of five million lines take 134 MB, and half as much again as they grow. */
const CONCURRENCY = 2
const UPLOAD_KEPT_MS = 24 * 3_600_000
const UPLOADS_MAX = 1_000
const SETTLE_TIMEOUT_MS = 30_000

/** The tenants of these changes whose files have got their content. */
export const uploadsOf = (rows: readonly OutboxRow[]): WaitingTenant[] =>
  tenantsWithFiles(rows, status => status === 'UPLOADED' || status === 'DOWNLOADED')

/** Queues the work on the files of each, for when the file in hand may be taken over. */
export const queueFiles = (tx: SystemTransaction, waiting: readonly WaitingTenant[]): Promise<void> =>
  queueTenants(tx, WORK_ON_FILES, waiting)

/** The tenants with unfinished files, and when the last lease on one of them ends. */
export async function findWaitingFiles(database: Database): Promise<WaitingTenant[]> {
  const found = await asSystem(database, 'find-files', tx =>
    tx.execute<WaitingTenant>(sql`
      select platform_id, environment, max(worked_until)::text as ready_at from files
      where status in ${sql.raw(UNFINISHED_SQL.process)}
      group by platform_id, environment`),
  )
  return found.rows
}

/** Waits until everything accepted so far can be looked up. Throws when that takes too long: the file is gone on with later. */
export async function settleUsage(usage: UsageReader): Promise<void> {
  if (!(await usage.settle(SETTLE_TIMEOUT_MS))) throw new Error('usage is behind; the file waits')
}

async function removeUploads(deps: FileJobDeps): Promise<void> {
  const { database } = deps.work
  const before = instantOf(database.clock.now() - UPLOAD_KEPT_MS)
  const found = await asSystem(deps.database, 'find-files', tx =>
    tx.execute<{ platform_id: string; environment: Environment; id: string }>(sql`
      select platform_id, environment, id from files where status = 'CREATED' and content_bytes > 0
        and upload_at < to_timestamp(${before / 1_000}) limit ${UPLOADS_MAX}`),
  )
  for (const { platform_id: platformId, environment, id } of found.rows) {
    const actor = { id: null, requestId: null }
    await inTenant(database, { platformId, environment }, actor, uow => removeAbandonedUpload(uow, id, before))
  }
}

const requeue = (deps: FileJobDeps, tenant: Tenant): Promise<void> =>
  asSystem(deps.database, 'find-files', tx =>
    queueFiles(tx, [{ platform_id: tenant.platformId, environment: tenant.environment }]),
  )

/** Works on the oldest file of the tenant, if nobody does, and sees to it that the next one follows. */
async function workOnFiles(deps: FileJobDeps, tenant: Tenant, of: LeaseTaker): Promise<void> {
  const lease = await takeFile(deps.work.database, tenant, { ...of, stage: 'process' })
  if (lease === null) return
  await workUnderLease(lease, {
    work: () => workOnFile(deps.work, lease),
    count: outcome => deps.metrics.files.inc({ outcome }),
    logger: deps.logger,
  })
  await requeue(deps, tenant)
}

export const fileTasksOf = (deps: FileJobDeps, of: LeaseTaker): TaskList => ({
  [FIND_FILES]: async () => {
    const waiting = await findWaitingFiles(deps.database)
    await asSystem(deps.database, 'find-files', tx => queueFiles(tx, waiting))
  },
  [WORK_ON_FILES]: async payload => {
    // Only queueFiles makes these jobs.
    const { platform_id: platformId, environment } = payload as WaitingTenant
    await workOnFiles(deps, { platformId, environment }, of)
  },
  [REMOVE_UPLOADS]: () => removeUploads(deps),
})

/** Works on files from the queue in the database at `databaseUrl`. Closing breaks off the file at work; another worker goes on. */
export async function startFileJobs(databaseUrl: string, deps: FileJobDeps): Promise<Jobs> {
  const waiting = await findWaitingFiles(deps.database)
  await asSystem(deps.database, 'find-files', tx => queueFiles(tx, waiting))
  return await startLeaseRunner(databaseUrl, {
    crontab: CRONTAB,
    tasksOf: of => fileTasksOf(deps, of),
    concurrency: CONCURRENCY,
    logger: deps.logger,
  })
}
