// When keys were last used. Noted in memory, which costs a request nothing, and written once a minute for all keys together.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../database/database.ts'
import type { Logger } from '../process/logger.ts'
import type { Tenant } from '../tenant.ts'
import { formatInstant, type Instant } from '../time.ts'

/** What is noted of a key: an identity of live-keys.ts. */
type UsedKey = Tenant & { readonly keyRowId: string; readonly roleType: string }

export type KeyUses = {
  /** Notes that the key was used now. Keys that processes make for themselves are not watched. */
  note(identity: UsedKey): void
  /** Writes what is still noted. */
  close(): Promise<void>
}

type Notes = ReadonlyMap<UsedKey, Instant>

/** Follows the use of keys. `everyMs`: how often it is written (security section 4: batched, 60 s). */
export function createKeyUses(options: { database: Database; logger: Logger; everyMs: number }): KeyUses {
  const { database, logger, everyMs } = options
  const used = new Map<UsedKey, Instant>()
  // A failure is logged, and what could not be written stays noted.
  const flush = async (): Promise<void> => {
    if (used.size === 0) return
    const uses = new Map(used)
    used.clear()
    try {
      await asSystem(database, 'note-key-uses', tx => writeUses(tx, uses))
    } catch (error) {
      // What was noted meanwhile is newer.
      for (const [identity, at] of uses) if (!used.has(identity)) used.set(identity, at)
      logger.warn({ err: error }, 'the use of API keys could not be noted; it will be tried again')
    }
  }
  let last: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    last = last.then(flush)
  }, everyMs)
  timer.unref()
  return {
    note: identity => {
      if (identity.roleType !== 'INGEST') used.set(identity, database.clock.now())
    },
    close: async () => {
      clearInterval(timer)
      await last
      await flush()
    },
  }
}

/** In one order, so that two processes that note the same keys never wait for each other. A key that is gone is left out. */
async function writeUses(tx: SystemTransaction, uses: Notes): Promise<void> {
  const rows = [...uses].map(([identity, at]) => ({
    platform_id: identity.platformId,
    environment: identity.environment,
    id: identity.keyRowId,
    at: formatInstant(at),
  }))
  await tx.execute(sql`
    insert into api_key_uses (platform_id, environment, api_key_id, last_used_at)
    select k.platform_id, k.environment, k.id, max(u.at)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as u(platform_id text, environment text, id text, at timestamptz)
    join api_keys k on k.platform_id = u.platform_id and k.environment = u.environment and k.id = u.id
    group by k.platform_id, k.environment, k.id
    order by k.platform_id, k.environment, k.id
    on conflict (platform_id, environment, api_key_id)
    do update set last_used_at = greatest(api_key_uses.last_used_at, excluded.last_used_at)`)
}
