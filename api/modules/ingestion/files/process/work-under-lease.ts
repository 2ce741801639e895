// What the jobs of both kinds of work on files share.
import type { Logger } from '../../../../../shared/process/logger.ts'
import type { WaitingTenant } from '../../../../jobs/tenant-jobs.ts'
import type { OutboxRow } from '../../../../workers/outbox-row.ts'
import type { Lease } from './lease.ts'

/** The tenants of these changes that made a file such. */
export function tenantsWithFiles(rows: readonly OutboxRow[], isSuch: (status: unknown) => boolean): WaitingTenant[] {
  const tenants = new Map<string, WaitingTenant>()
  for (const { object_type, data, platform_id, environment } of rows) {
    if (object_type !== 'FILE' || !isSuch(data.status)) continue
    tenants.set(`${platform_id}/${environment}`, { platform_id, environment })
  }
  return [...tenants.values()]
}

/**
 * Works on the file that was taken, counts how that ended, and gives the file back. Throws what stopped the work, so that the
 * queue tries the job again, later each time; not when the worker stops or another worker has the file now.
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
    of.logger.warn({ err: error, fileId: lease.fileId }, 'the work on a file failed; it is tried again')
    throw error
  } finally {
    await lease.release()
  }
}
