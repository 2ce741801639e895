// All live API keys in memory, by hash: a request is authenticated without a look-up, and while PostgreSQL is down.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../database/database.ts'
import { listen } from '../database/listen.ts'
import { AppError } from '../errors.ts'
import type { Logger } from '../process/logger.ts'
import type { Environment } from '../tenant.ts'
import { type Instant, instantOf } from '../time.ts'
import { apiKeyEnvironment, hashApiKey } from './api-key.ts'
import { createKeyUses } from './key-uses.ts'
import { createRefresher } from './refresher.ts'

/** INGEST: a key a process made for itself; it sends events and does nothing else. */
export type ApiKeyRole = 'ADMINISTRATOR' | 'READ_ONLY' | 'INGEST'

export type ApiKeyIdentity = {
  readonly platformId: string
  readonly environment: Environment
  /** The row's id, for the audit trail. */
  readonly keyRowId: string
  readonly roleType: ApiKeyRole
  /** The users a PROXY key may act for; null for keys of any other type. */
  readonly originalUserIds: readonly string[] | null
  /** From then on it is no key any more; null for those that live until revoked. */
  readonly expiresAt: Instant | null
}

export type LiveKeys = {
  /** Loads the keys now: await it at the start, so that a fault shows there. Throws what the load throws. */
  load(): Promise<void>
  /** The identity of a key that is in memory, at once; undefined says nothing about the key. */
  peek(key: string): ApiKeyIdentity | undefined
  /** The identity of a key, or null when there is no such live key. Throws SERVICE_UNAVAILABLE when that is not known now. */
  find(key: string): Promise<ApiKeyIdentity | null>
  close(): Promise<void>
}

/**
 * A revoked key must stop working within 5 s, also when no notification comes and its row is simply gone: that is seen by
 * the second poll at the latest. The notification is much quicker.
 */
const POLL_MS = 2_000
/** Counting goes through every live key, so that not every load does it. */
const COUNT_EVERY_MS = POLL_MS - 100
/** Unknown keys with a right checksum cost at most ten queries a second, however many come. */
const GAP_MS = 100
const KEY_CHARACTERS_MAX = 100
const NOTE_USES_MS = 60_000
const HASHES_MAX = 1_000

type Row = {
  platform_id: string
  environment: Environment
  id: string
  sha256: string
  role_type: ApiKeyRole
  original_user_ids: string[] | null
  expires_at_ms: string | null
  revoked: boolean
}

/** `upTo`: every transaction below it was over when this was read, so a later reader needs only what others changed. */
type Changes = { readonly rows: readonly Row[]; readonly upTo: string; readonly live: number | null }

/**
 * Keeps every live key in memory and follows changes; notes when each was last used, every `noteUsesMs`. The database's role
 * must be one that may look across tenants.
 */
export function createLiveKeys(options: { database: Database; logger: Logger; noteUsesMs?: number }): LiveKeys {
  const { database, logger, noteUsesMs = NOTE_USES_MS } = options
  const uses = createKeyUses({ database, logger, everyMs: noteUsesMs })
  const identities = new Map<string, ApiKeyIdentity>()
  // Of keys in use, between two loads: hashing one costs more than everything else that is asked of it.
  const hashes = new Map<string, string>()
  const hashOf = (key: string): string => {
    const known = hashes.get(key)
    if (known !== undefined) return known
    const sha256 = hashApiKey(key)
    if (hashes.size < HASHES_MAX && identities.has(sha256)) hashes.set(key, sha256)
    return sha256
  }
  let seenUpTo: string | null = null
  let countedAt = Number.NEGATIVE_INFINITY

  const take = ({ rows, upTo }: Changes): void => {
    for (const row of rows) {
      if (row.revoked) identities.delete(row.sha256)
      else identities.set(row.sha256, toIdentity(row))
    }
    seenUpTo = upTo
  }
  const loadAll = async (): Promise<void> => {
    const all = await readKeys(database, null, false)
    const live = new Set(all.rows.map(row => row.sha256))
    for (const sha256 of identities.keys()) if (!live.has(sha256)) identities.delete(sha256)
    take(all)
  }
  const load = async (): Promise<void> => {
    hashes.clear()
    if (seenUpTo === null) return await loadAll()
    const isCountDue = performance.now() - countedAt >= COUNT_EVERY_MS
    const changes = await readKeys(database, seenUpTo, isCountDue)
    take(changes)
    if (changes.live === null) return
    // A row that is deleted leaves no change behind, but one key fewer than we have.
    if (identities.size !== changes.live) await loadAll()
    countedAt = performance.now()
  }
  const refresher = createRefresher({ name: 'the API keys', load, pollMs: POLL_MS, gapMs: GAP_MS, logger })
  const listener = listen(database, 'millrace_changes', {
    onMessage: table => {
      if (table === 'api_keys') refresher.poke()
    },
    onConnect: refresher.poke,
    logger,
  })

  const peek = (key: string): ApiKeyIdentity | undefined => {
    if (key.length > KEY_CHARACTERS_MAX) return undefined
    const identity = identities.get(hashOf(key))
    if (identity?.expiresAt != null && identity.expiresAt <= database.clock.now()) return undefined
    // The environment stands in the key and in the row; a key whose two differ was not made by us.
    if (identity === undefined || !key.startsWith(PREFIX[identity.environment])) return undefined
    uses.note(identity)
    return identity
  }
  return {
    load: refresher.refresh,
    peek,
    find: async key => {
      const known = peek(key)
      if (known) return known
      if (apiKeyEnvironment(key) === null) return null
      try {
        await refresher.refresh()
      } catch (cause) {
        throw new AppError('SERVICE_UNAVAILABLE', 'The API key cannot be checked right now; send the request again.', {
          retryAfterSeconds: 2,
          cause,
        })
      }
      return peek(key) ?? null
    },
    close: async () => {
      await Promise.all([listener.close(), refresher.close(), uses.close()])
    },
  }
}

const PREFIX: Readonly<Record<Environment, string>> = { LIVE: 'millrace_live_', TEST: 'millrace_test_' }

const toIdentity = (row: Row): ApiKeyIdentity => ({
  platformId: row.platform_id,
  environment: row.environment,
  keyRowId: row.id,
  roleType: row.role_type,
  originalUserIds: row.original_user_ids,
  expiresAt: row.expires_at_ms === null ? null : instantOf(Number(row.expires_at_ms)),
})

/**
 * The keys changed by a transaction that may not have been over at `since`; every live key when that is null. `live` is how
 * many there are: null when they were not counted, -1 when transactions are counted anew, as in a database restored elsewhere,
 * so that what is known of them says nothing.
 */
async function readKeys(database: Database, since: string | null, count: boolean): Promise<Changes> {
  const isWanted =
    since === null
      ? sql`revoked_at is null`
      : sql`changed_xid >= ${since}::xid8 and changed_xid < pg_snapshot_xmax(pg_current_snapshot())`
  const live = count ? sql`(select count(*)::int from api_keys where revoked_at is null)` : sql`null::int`
  const read = async (tx: SystemTransaction): Promise<Changes> => {
    const state = await tx.execute<{ up_to: string; live: number | null }>(
      sql`select pg_snapshot_xmin(pg_current_snapshot())::text as up_to,
            case when pg_snapshot_xmin(pg_current_snapshot()) < ${since}::xid8 then -1 else ${live} end as live`,
    )
    const { rows } = await tx.execute<Row>(
      sql`select platform_id, environment, id, sha256, role_type, revoked_at is not null as revoked,
            case when type = 'PROXY' then original_user_ids end as original_user_ids,
            floor(extract(epoch from expires_at) * 1000)::bigint as expires_at_ms
          from api_keys where ${isWanted}`,
    )
    const [{ up_to: upTo, live: counted } = { up_to: '0', live: null }] = state.rows
    return { rows, upTo, live: counted }
  }
  // All of one moment, or a key made in between would look like one too many.
  return await asSystem(database, 'load-api-keys', read, { accessMode: 'read only', isolationLevel: 'repeatable read' })
}
