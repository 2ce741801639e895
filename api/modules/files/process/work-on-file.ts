// One file from where it stands to its end. May be broken off anywhere and begun again by any worker.
import type { Dispatcher } from 'undici'
import type { Environment } from '../../../../shared/tenant.ts'
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
    readonly eventsPerSecond: Readonly<Record<Environment, number>>
    readonly patienceMs: number
  }

/** What became of the file. Throws when it is to be gone on with later, and what the lease's signal was aborted with. */
export async function workOnFile(deps: FileWorkDeps, lease: Lease): Promise<'DONE' | 'ERROR'> {
  const keys = createKeyRing(deps.database, lease)
  try {
    const status = await lease.change(async uow => (await moveFile(uow, lease.fileId, null)).status)
    if (status === 'UPLOADED' || status === 'IMPORTING') await importFile(deps, lease)
    const gateway = new Gateway({
      dispatcher: deps.gateway,
      pace: createPace(deps.eventsPerSecond[lease.tenant.environment]),
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
