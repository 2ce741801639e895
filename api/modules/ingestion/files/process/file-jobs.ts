// Files as jobs: one job a tenant whose files wait. A job that dies with its worker stays locked in the queue, so the search every
// minute, and the one at the start, make another; the lease of the file says when that one may begin.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, inTenant, type SystemTransaction } from '../../../../../shared/database/database.ts'
import { idOf } from '../../../../../shared/ids.ts'
import type { Logger } from '../../../../../shared/process/logger.ts'
import type { Environment } from '../../../../../shared/tenant.ts'
import { instantOf } from '../../../../../shared/time.ts'
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
import type { UsageReader } from '../../../billing/usage/usage-reader.ts'
import { removeAbandonedUpload } from '../receive-content.ts'
import { takeFile, UNFINISHED_SQL } from './lease.ts'
import { type FileWorkDeps, workOnFile } from './work-on-file.ts'
import { tenantsWithFiles, workUnderLease } from './work-under-lease.ts'

export type FileJobDeps = {
  /** In the role millrace_worker. */
  readonly system: Database
  /** Its database is in the role millrace_app: a file is worked on for one tenant, under its row-level security. */
  readonly files: FileWorkDeps
  readonly metrics: Pick<WorkerMetrics, 'files'>
  readonly logger: Logger
}

const UPLOAD_KEPT_MS = 24 * 3_600_000
const UPLOADS_MAX = 1_000
const SETTLE_TIMEOUT_MS = 30_000

/** The tenants of these changes whose files have got their content. */
const uploadsOf = (rows: readonly OutboxRow[]): WaitingTenant[] =>
  tenantsWithFiles(rows, status => status === 'UPLOADED' || status === 'DOWNLOADED')

const WORK_ON_FILES = { name: 'work-on-files' }

/** Queues the work on the files of each, for when the file in hand may be taken over. */
export const queueFiles = (tx: SystemTransaction, waiting: readonly WaitingTenant[]): Promise<void> =>
  queueTenants(tx, WORK_ON_FILES, waiting)

export const fileReactions = [on(['FILE.CREATED', 'FILE.UPDATED'], (tx, rows) => queueFiles(tx, uploadsOf(rows)))]

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

/** Waits until everything accepted so far can be looked up. Throws when that takes too long: the file is resumed later. */
export async function settleUsage(usage: UsageReader): Promise<void> {
  if (!(await usage.settle(SETTLE_TIMEOUT_MS))) throw new Error('usage is behind; the file waits')
}

async function removeUploads(deps: FileJobDeps): Promise<void> {
  const { database } = deps.files
  const before = instantOf(database.clock.now() - UPLOAD_KEPT_MS)
  const found = await asSystem(deps.system, 'remove-abandoned-uploads', tx =>
    tx.execute<{ platform_id: string; environment: Environment; id: string }>(sql`
      select platform_id, environment, id from files where status = 'CREATED' and content_bytes > 0
        and upload_at < to_timestamp(${before / 1_000}) limit ${UPLOADS_MAX}`),
  )
  for (const { platform_id: platformId, environment, id } of found.rows) {
    const actor = { id: null, requestId: null }
    await inTenant(database, { platformId, environment }, actor, uow =>
      removeAbandonedUpload(uow, idOf('file', id), before),
    )
  }
}

/** Works on the oldest file of the tenant, if no one does, and sees to it that the next one follows. */
async function workOnFiles(deps: FileJobDeps, payload: TenantPayload, of: JobRun): Promise<void> {
  const lease = await takeFile(deps.files.database, tenantOf(payload), { ...of, stage: 'process' })
  if (lease === null) return
  await workUnderLease(lease, {
    work: () => workOnFile(deps.files, lease),
    count: outcome => deps.metrics.files.inc({ outcome }),
    logger: deps.logger,
  })
  await asSystem(deps.system, 'work-on-files', tx => queueFiles(tx, [payloadOf(lease.tenant)]))
}

export const fileJobs = [
  defineJob<FileJobDeps>({
    name: 'find-files',
    class: 'short',
    every: '* * * * *',
    atStart: true,
    rights: { files: ['select'] },
    run: async ({ system }) => {
      const waiting = await findWaitingFiles(system)
      await asSystem(system, 'find-files', tx => queueFiles(tx, waiting))
    },
  }),
  defineJob<FileJobDeps, TenantPayload>({ ...WORK_ON_FILES, class: 'long', rights: {}, run: workOnFiles }),
  defineJob<FileJobDeps>({
    name: 'remove-abandoned-uploads',
    class: 'short',
    every: '37 * * * *',
    rights: { files: ['select'] },
    run: removeUploads,
  }),
] as const
