// What each platform may send, in memory: the installation's defaults, and over them what a platform set for itself.
import { sql } from 'drizzle-orm'
import { createRefresher } from '../../shared/access/refresher.ts'
import { asSystem, type Database } from '../../shared/database/database.ts'
import { listen } from '../../shared/database/listen.ts'
import type { Logger } from '../../shared/process/logger.ts'
import type { Environment, Tenant } from '../../shared/tenant.ts'

export type IngestLimits = {
  readonly eventsPerSecond: number
  /** Most events in one request. */
  readonly batchMax: number
}

export type LiveLimits = {
  /** Loads the limits now: await it at the start, so that a fault shows there. */
  load(): Promise<void>
  of(tenant: Tenant): IngestLimits
  /** Changes whenever a limit may have. */
  version(): number
  close(): Promise<void>
}

/** The net under the notifications: a changed limit acts within about a second even without them. */
const POLL_MS = 1_000
const GAP_MS = 100

type Row = {
  platform_id: string
  environment: Environment
  events_per_second: number | null
  batch_limit: number | null
}

/**
 * Keeps the limits of every platform and follows changes. `most` bounds what a platform may set for itself; the defaults
 * are the operator's, and are not bounded by it. The database's role must be the gateway's.
 */
export function createLiveLimits(options: {
  database: Database
  logger: Logger
  defaults: Readonly<Record<Environment, IngestLimits>>
  most: IngestLimits
}): LiveLimits {
  const { database, logger, defaults, most } = options
  let own: Record<Environment, Map<string, IngestLimits>> = { LIVE: new Map(), TEST: new Map() }
  let fingerprint = ''
  let version = 0

  const load = async (): Promise<void> => {
    const latest = await readFingerprint(database)
    if (latest === fingerprint) return
    const next = { LIVE: new Map<string, IngestLimits>(), TEST: new Map<string, IngestLimits>() }
    for (const row of await readLimits(database)) {
      const fallback = defaults[row.environment]
      next[row.environment].set(row.platform_id, {
        eventsPerSecond: bounded(row.events_per_second, fallback.eventsPerSecond, most.eventsPerSecond),
        batchMax: bounded(row.batch_limit, fallback.batchMax, most.batchMax),
      })
    }
    own = next
    version += 1
    // Taken before the rows: a change in between is loaded twice, never missed.
    fingerprint = latest
  }
  const refresher = createRefresher({ name: "the platforms' limits", load, pollMs: POLL_MS, gapMs: GAP_MS, logger })
  const listener = listen(database, 'millrace_changes', {
    onMessage: table => {
      if (table === 'platforms') refresher.poke()
    },
    onConnect: refresher.poke,
    logger,
  })
  return {
    load: refresher.refresh,
    of: ({ platformId, environment }) => own[environment].get(platformId) ?? defaults[environment],
    version: () => version,
    close: async () => {
      await listener.close()
      await refresher.close()
    },
  }
}

const bounded = (set: number | null, fallback: number, most: number): number =>
  set === null ? fallback : Math.min(set, most)

// Tells whether anything changed without moving every row: the versions of the rows that set something.
async function readFingerprint(database: Database): Promise<string> {
  const result = await asSystem(database, 'load-platforms', tx =>
    tx.execute<{ fingerprint: string }>(sql`
      select count(*) || ':' || coalesce(sum(hashtextextended(platform_id || environment || xmin::text, 0)::numeric), 0) as fingerprint
      from platforms where ingest_settings <> '{}'`),
  )
  return result.rows[0]?.fingerprint ?? ''
}

async function readLimits(database: Database): Promise<Row[]> {
  const result = await asSystem(database, 'load-platforms', tx =>
    tx.execute<Row>(sql`
      select platform_id, environment, (ingest_settings ->> 'events_per_second')::int as events_per_second,
        (ingest_settings ->> 'batch_limit')::int as batch_limit
      from platforms where ingest_settings <> '{}'`),
  )
  return result.rows
}
