// All live API keys in memory, by hash: a request is authenticated without a look-up, and while PostgreSQL is down.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, listen } from '../database/database.ts'
import { AppError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { Environment } from '../tenant.ts'
import { apiKeyEnvironment, hashApiKey } from './api-key.ts'
import { createRefresher } from './refresher.ts'

export type ApiKeyRole = 'ADMINISTRATOR' | 'READ_ONLY'

export type ApiKeyIdentity = {
  readonly platformId: string
  readonly environment: Environment
  /** The row's id, for the audit trail. */
  readonly keyRowId: string
  readonly roleType: ApiKeyRole
}

export type LiveKeys = {
  /** Loads the keys now: await it at the start, so that a fault shows there. Throws what the load throws. */
  load(): Promise<void>
  /** The identity of a key that is in memory, at once; undefined says nothing about the key. */
  peek(key: string): ApiKeyIdentity | undefined
  /** The identity of a key, or null when there is no such live key. Throws SERVICE_UNAVAILABLE when that cannot be told now. */
  find(key: string): Promise<ApiKeyIdentity | null>
  close(): Promise<void>
}

/** Below the 5 s within which a revoked key must stop working, with room for the query. The notification is much quicker. */
const POLL_MS = 4_000
/** Unknown keys with a right checksum cost at most ten queries a second, however many come. */
const GAP_MS = 100
/** A row may be committed this long after its updated_at was taken and is still seen. */
const OVERLAP_SECONDS = 60
const KEY_CHARACTERS_MAX = 100

type Row = {
  platform_id: string
  environment: Environment
  id: string
  sha256: string
  role_type: ApiKeyRole
  revoked: boolean
  changed_at: string
}

/** Keeps every live key in memory and follows changes. The database's role must be one that may look across tenants. */
export function createLiveKeys(options: { database: Database; logger: Logger }): LiveKeys {
  const { database, logger } = options
  const identities = new Map<string, ApiKeyIdentity>()
  let seenUpTo: string | null = null

  const load = async (): Promise<void> => {
    const rows = await readKeys(database, seenUpTo)
    for (const row of rows) {
      if (row.revoked) identities.delete(row.sha256)
      else identities.set(row.sha256, toIdentity(row))
      if (seenUpTo === null || row.changed_at > seenUpTo) seenUpTo = row.changed_at
    }
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
    const identity = identities.get(hashApiKey(key))
    // The environment stands in the key and in the row; a key whose two differ was not made by us.
    return identity !== undefined && key.startsWith(PREFIX[identity.environment]) ? identity : undefined
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
      await listener.close()
      await refresher.close()
    },
  }
}

const PREFIX: Readonly<Record<Environment, string>> = { LIVE: 'millrace_live_', TEST: 'millrace_test_' }

const toIdentity = (row: Row): ApiKeyIdentity => ({
  platformId: row.platform_id,
  environment: row.environment,
  keyRowId: row.id,
  roleType: row.role_type,
})

async function readKeys(database: Database, since: string | null): Promise<Row[]> {
  const which =
    since === null
      ? sql`revoked_at is null`
      : sql`greatest(updated_at, revoked_at) >= ${since}::timestamptz - make_interval(secs => ${OVERLAP_SECONDS})`
  const result = await asSystem(database, 'load-api-keys', tx =>
    tx.execute<Row>(
      sql`select platform_id, environment, id, sha256, role_type, revoked_at is not null as revoked,
            to_char(greatest(updated_at, revoked_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as changed_at
          from api_keys where ${which}`,
    ),
  )
  return result.rows
}
