// One file from where it stands to its end. May be broken off anywhere and begun again by any worker.
import { sql } from 'drizzle-orm'
import type { Dispatcher } from 'undici'
import { readTenant } from '../../../../../shared/database/database.ts'
import type { Environment } from '../../../../../shared/tenant.ts'
import type { FileStatus } from '../table.ts'
import { UnreadableFile } from '../unreadable-file.ts'
import { Gateway } from './gateway.ts'
import { type ImportDeps, importFile, moveFile } from './import-file.ts'
import { createKeyRing } from './key-ring.ts'
import type { Lease } from './lease.ts'
import { createPace } from './pace.ts'
import { type ProcessDeps, processFile } from './process-file.ts'

export type FileWorkDeps = ImportDeps &
  ProcessDeps & {
    readonly gateway: Dispatcher
    /** What a platform may send a second when it has no limit of its own. */
    readonly eventsPerSecond: Readonly<Record<Environment, number>>
    /** The part of its limit that files may take, up to 1. */
    readonly share: number
    readonly patienceMs: number
  }

const BEFORE_IMPORT: ReadonlySet<FileStatus> = new Set(['UPLOADED', 'DOWNLOADED', 'IMPORTING'])

/** What became of the file. Throws when it is to be resumed later, and what the lease's signal was aborted with. */
export async function workOnFile(deps: FileWorkDeps, lease: Lease): Promise<'DONE' | 'ERROR'> {
  const keys = createKeyRing(deps.database, lease)
  try {
    const status = await lease.change(async uow => (await moveFile(uow, lease.fileId, null)).status)
    if (BEFORE_IMPORT.has(status)) await importFile(deps, lease)
    const gateway = new Gateway({
      dispatcher: deps.gateway,
      pace: createPace(await eventsPerSecond(deps, lease)),
      key: keys.key,
      signal: lease.signal,
      patienceMs: deps.patienceMs,
    })
    await processFile(deps, lease, gateway)
    return 'DONE'
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    await lease.change(uow => moveFile(uow, lease.fileId, 'ERROR', { message: error.message }))
    return 'ERROR'
  } finally {
    // A key that cannot be ended now ends by itself.
    await keys.end().catch(() => undefined)
  }
}

/** Half a limit is still a limit, so at least one event a second. */
async function eventsPerSecond(deps: FileWorkDeps, { tenant }: Lease): Promise<number> {
  const own = await readTenant(deps.database, tenant, async ({ tx }) => {
    const found = await tx.execute<{ limit: string | null }>(sql`
      select ingest_settings ->> 'events_per_second' as limit from platforms
      where platform_id = ${tenant.platformId} and environment = ${tenant.environment}`)
    return found.rows[0]?.limit ?? null
  })
  return Math.max(1, Number(own ?? deps.eventsPerSecond[tenant.environment]) * deps.share)
}
