// Downloads of files as jobs: one job a tenant whose files wait for their content.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../../../../shared/database/database.ts'
import type { Logger } from '../../../../../shared/process/logger.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { defineJob, type JobRun } from '../../../../jobs/define-job.ts'
import type { WorkerMetrics } from '../../../../jobs/metrics.ts'
import {
  payloadOf,
  queueTenants,
  type TenantPayload,
  tenantOf,
  type WaitingTenant,
} from '../../../../jobs/tenant-jobs.ts'
import type { OutboxRow } from '../../../../workers/outbox-row.ts'
import { on } from '../../../../workers/reaction.ts'
import { queueFiles } from '../process/file-jobs.ts'
import { takeFile, UNFINISHED_SQL } from '../process/lease.ts'
import { tenantsWithFiles, workUnderLease } from '../process/work-under-lease.ts'
import { type DownloadDeps, downloadFile } from './download-file.ts'

export type DownloadJobDeps = {
  /** In the role millrace_worker. */
  readonly system: Database
  /** In the role millrace_app: a file is downloaded for one tenant, under its row-level security. */
  readonly database: Database
  readonly download: DownloadDeps
  readonly metrics: Pick<WorkerMetrics, 'downloads'>
  readonly logger: Logger
}

const DOWNLOAD_FILES = { name: 'download-files' }

/** The tenants of these changes with files to download. */
const downloadsOf = (rows: readonly OutboxRow[]): WaitingTenant[] =>
  tenantsWithFiles(rows, status => status === 'TO_BE_DOWNLOADED')

/** Queues the downloads of each, for when the next may begin. */
const queueDownloads = (tx: SystemTransaction, waiting: readonly WaitingTenant[]): Promise<void> =>
  queueTenants(tx, DOWNLOAD_FILES, waiting)

export const downloadReactions = [
  on(['FILE.CREATED', 'FILE.UPDATED'], (tx, rows) => queueDownloads(tx, downloadsOf(rows))),
]

/** The tenants with files to download, or this one if it has some, and when the next download may begin. */
async function findWaitingDownloads(database: Database, of: Tenant | null): Promise<WaitingTenant[]> {
  const ofTenant = of === null ? sql`` : sql`and platform_id = ${of.platformId} and environment = ${of.environment}`
  const found = await asSystem(database, 'find-downloads', tx =>
    tx.execute<WaitingTenant>(sql`
      select platform_id, environment,
        greatest(max(worked_until), min(coalesce(download_after, to_timestamp(0))))::text as ready_at from files
      where status in ${sql.raw(UNFINISHED_SQL.download)} ${ofTenant}
      group by platform_id, environment`),
  )
  return found.rows
}

async function queueWaiting({ system }: DownloadJobDeps, of: Tenant | null): Promise<void> {
  const waiting = await findWaitingDownloads(system, of)
  await asSystem(system, 'find-downloads', tx => queueDownloads(tx, waiting))
}

/** Makes an attempt at the next file of the tenant, if no one does, and sees to it that the next one follows. */
async function downloadNext(deps: DownloadJobDeps, payload: TenantPayload, of: JobRun): Promise<void> {
  const lease = await takeFile(deps.database, tenantOf(payload), { ...of, stage: 'download' })
  if (lease === null) return
  await workUnderLease(lease, {
    work: () => downloadFile(deps.download, lease),
    count: outcome => deps.metrics.downloads.inc({ outcome }),
    logger: deps.logger,
  })
  await queueWaiting(deps, lease.tenant)
  // A job that was queued when the file became DOWNLOADED, before it was released, could not take it.
  await asSystem(deps.system, 'download-files', tx => queueFiles(tx, [payloadOf(lease.tenant)]))
}

export const downloadJobs = [
  defineJob<DownloadJobDeps>({
    name: 'find-downloads',
    class: 'short',
    every: '* * * * *',
    atStart: true,
    rights: { files: ['select'] },
    run: deps => queueWaiting(deps, null),
  }),
  defineJob<DownloadJobDeps, TenantPayload>({ ...DOWNLOAD_FILES, class: 'external', rights: {}, run: downloadNext }),
] as const
