// Which worker has a file in hand. A lease ends by itself, so another worker takes over the file of one that died; one that comes
// back to life finds that it is not its file any more. Two at work on one file for a moment is harmless all the same: the
// outcome of a block is saved once, and an event sent twice is one event.
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { type Database, inTenant, SERVICE, type Uow } from '../../../../../shared/database/database.ts'
import { type Id, idOf } from '../../../../../shared/ids.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import type { FileStatus } from '../table.ts'

/** How long a worker may be silent. */
export const LEASE_SECONDS = 15
const RENEW_MS = 4_000
const LISTENERS_MAX = 100

/** The two kinds of work on a file, which do not wait for each other: one depends on another party's server. */
export type Stage = 'download' | 'process'
/** What a file is while it needs work of a kind. */
const UNFINISHED: Readonly<Record<Stage, readonly FileStatus[]>> = {
  download: ['TO_BE_DOWNLOADED', 'DOWNLOADING'],
  process: ['UPLOADED', 'DOWNLOADED', 'IMPORTING', 'IMPORTED', 'TO_BE_PROCESSED', 'PROCESSING'],
}

/** Another worker has the file now. */
class LeaseLost extends Error {}

export type Lease = {
  readonly fileId: Id<'file'>
  readonly tenant: Tenant
  /** Given when the worker stops or the lease is lost. */
  readonly signal: AbortSignal
  /** A unit of work that commits only while the file is still ours, and prolongs the lease. */
  change<T>(work: (uow: Uow) => Promise<T>): Promise<T>
  release(): Promise<void>
}

export type Turn = { readonly workerId: string; readonly stop: AbortSignal; readonly stage: Stage }

/**
 * Takes the next file of the tenant that needs work of this kind: the oldest nobody has begun, then those that were broken off,
 * so that one that fails again and again holds up no other. Null when there is none, or when one is being worked on: files of a
 * tenant follow one another, so that many of them are sent no faster than one.
 */
export async function takeFile(database: Database, tenant: Tenant, of: Turn): Promise<Lease | null> {
  const fileId = await inTenant(database, tenant, SERVICE, uow => claim(uow, of))
  return fileId === null ? null : createLease(database, tenant, { ...of, fileId: idOf('file', fileId) })
}

async function claim({ tx, tenant }: Uow, { workerId, stage }: Turn): Promise<string | null> {
  const { platformId, environment } = tenant
  const unfinished = sql.raw(UNFINISHED_SQL[stage])
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`files\n${platformId}\n${environment}`}, 0))`)
  const taken = await tx.execute<{ id: string }>(sql`
    update files set worked_by = ${workerId}, worked_at = now(), worked_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where platform_id = ${platformId} and environment = ${environment} and id = (
      select id from files where platform_id = ${platformId} and environment = ${environment}
        and status in ${unfinished} and coalesce(download_after <= now(), true)
        and not exists (select from files f where f.platform_id = ${platformId} and f.environment = ${environment}
          and f.status in ${unfinished} and f.worked_until > now())
      order by worked_at nulls first, created_at, id limit 1)
    returning id`)
  return taken.rows[0]?.id ?? null
}
const listOf = (statuses: readonly FileStatus[]): string => `(${statuses.map(status => `'${status}'`).join(', ')})`
/** Part of the text, so that the partial indexes serve it. */
export const UNFINISHED_SQL = { download: listOf(UNFINISHED.download), process: listOf(UNFINISHED.process) }

type Claimed = { readonly fileId: Id<'file'>; readonly workerId: string; readonly stop: AbortSignal }

function createLease(database: Database, tenant: Tenant, { fileId, workerId, stop }: Claimed): Lease {
  const lost = new AbortController()
  const ended = new AbortController()
  const prolong = async ({ tx }: Uow): Promise<void> => {
    const kept = await tx.execute(sql`
      update files set worked_until = now() + make_interval(secs => ${LEASE_SECONDS})
      where platform_id = ${tenant.platformId} and environment = ${tenant.environment} and id = ${fileId} and worked_by = ${workerId}`)
    if (kept.rowCount === 1) return
    lost.abort(new LeaseLost('another worker has taken the file'))
    lost.signal.throwIfAborted()
  }
  const change: Lease['change'] = work =>
    inTenant(database, tenant, SERVICE, async uow => {
      // First, because it locks the row: a worker that takes the file over waits for what is being saved.
      await prolong(uow)
      return await work(uow)
    })
  const keep = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await sleep(RENEW_MS, undefined, { signal: ended.signal }).catch(() => undefined) // the end of the lease ends the pause
      // A database that is away is met by the work itself; the signal reports a lost lease.
      if (!ended.signal.aborted) await change(async () => undefined).catch(() => undefined)
    }
  }
  const keeping = keep()
  const signal = AbortSignal.any([stop, lost.signal])
  // Every batch on its way listens to it while it waits.
  setMaxListeners(LISTENERS_MAX, signal)
  return {
    fileId,
    tenant,
    signal,
    change,
    release: async () => {
      ended.abort()
      await keeping
      await inTenant(database, tenant, SERVICE, ({ tx }) =>
        tx.execute(sql`update files set worked_until = null where platform_id = ${tenant.platformId}
          and environment = ${tenant.environment} and id = ${fileId} and worked_by = ${workerId}`),
      )
    },
  }
}
