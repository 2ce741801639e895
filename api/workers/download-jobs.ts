// Downloads of files as jobs: one job a tenant whose files wait for their content. They have a runner of their own, because they
// wait for somebody else's server, which neither a billing run nor the processing of a file must.
import { sql } from 'drizzle-orm'
import type { TaskList } from 'graphile-worker'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/logger.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { type DownloadDeps, downloadFile } from '../modules/files/download/download-file.ts'
import { takeFile, UNFINISHED_SQL } from '../modules/files/process/lease.ts'
import type { OutboxRow } from './audit-entry.ts'
import { queueFiles } from './file-jobs.ts'
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

export type DownloadJobDeps = {
  /** In the role millrace_worker. */
  readonly database: Database
  /** In the role millrace_app: a file is downloaded for one tenant, under its row-level security. */
  readonly appDatabase: Database
  readonly download: DownloadDeps
  readonly metrics: Pick<WorkerMetrics, 'downloads'>
  readonly logger: Logger
}

const DOWNLOAD_FILES = 'download-files'
const FIND_DOWNLOADS = 'find-downloads'
const CRONTAB = `
* * * * * ${FIND_DOWNLOADS} ?jobKey=${FIND_DOWNLOADS}&max=3
`
/** Tenants at a time in one worker. Each holds a megabyte or two of its file. */
const CONCURRENCY = 4

/** The tenants of these changes with files to download. */
export const downloadsOf = (rows: readonly OutboxRow[]): WaitingTenant[] =>
  tenantsWithFiles(rows, status => status === 'TO_BE_DOWNLOADED')

/** Queues the downloads of each, for when the next may begin. */
export const queueDownloads = (tx: SystemTransaction, waiting: readonly WaitingTenant[]): Promise<void> =>
  queueTenants(tx, DOWNLOAD_FILES, waiting)

/** The tenants with files to download, or this one if it has some, and when the next download may begin. */
async function findWaitingDownloads(database: Database, of: Tenant | null): Promise<WaitingTenant[]> {
  const ofTenant = of === null ? sql`` : sql`and platform_id = ${of.platformId} and environment = ${of.environment}`
  const found = await asSystem(database, 'find-files', tx =>
    tx.execute<WaitingTenant>(sql`
      select platform_id, environment,
        greatest(max(worked_until), min(coalesce(download_after, to_timestamp(0))))::text as ready_at from files
      where status in ${sql.raw(UNFINISHED_SQL.download)} ${ofTenant}
      group by platform_id, environment`),
  )
  return found.rows
}

async function queueWaiting(deps: DownloadJobDeps, of: Tenant | null): Promise<void> {
  const waiting = await findWaitingDownloads(deps.database, of)
  await asSystem(deps.database, 'find-files', tx => queueDownloads(tx, waiting))
}

/** Makes an attempt at the next file of the tenant, if nobody does, and sees to it that the next one follows. */
async function downloadNext(deps: DownloadJobDeps, tenant: Tenant, of: LeaseTaker): Promise<void> {
  const lease = await takeFile(deps.appDatabase, tenant, { ...of, stage: 'download' })
  if (lease === null) return
  await workUnderLease(lease, {
    work: () => downloadFile(deps.download, lease),
    count: outcome => deps.metrics.downloads.inc({ outcome }),
    logger: deps.logger,
  })
  await queueWaiting(deps, tenant)
  // Whoever heard of the DOWNLOADED file before it was released could not take it.
  const { platformId: platform_id, environment } = tenant
  await asSystem(deps.database, 'find-files', tx => queueFiles(tx, [{ platform_id, environment }]))
}

const downloadTasksOf = (deps: DownloadJobDeps, of: LeaseTaker): TaskList => ({
  [FIND_DOWNLOADS]: () => queueWaiting(deps, null),
  [DOWNLOAD_FILES]: async payload => {
    // Only queueDownloads makes these jobs.
    const { platform_id: platformId, environment } = payload as WaitingTenant
    await downloadNext(deps, { platformId, environment }, of)
  },
})

/** Downloads files from the queue in the database at `databaseUrl`. Closing breaks off the downloads at work. */
export async function startDownloadJobs(databaseUrl: string, deps: DownloadJobDeps): Promise<Jobs> {
  await queueWaiting(deps, null)
  return await startLeaseRunner(databaseUrl, {
    crontab: CRONTAB,
    tasksOf: of => downloadTasksOf(deps, of),
    concurrency: CONCURRENCY,
    logger: deps.logger,
  })
}
