// How often the credentials of each platform may call: what it set for itself, or the installation's default. Read when it is first
// needed, forgotten when a platform changes.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../shared/database/database.ts'
import { listen } from '../../../shared/database/listen.ts'
import type { Logger } from '../../../shared/process/logger.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import type { BucketSize } from './token-buckets.ts'

export type LiveRates = {
  /** Never waits: until a platform's own is read for the first time, it is the default. */
  of(tenant: Tenant): BucketSize
  /** The installation's default. */
  readonly usual: BucketSize
  close(): Promise<void>
}

/** A change that was never announced takes effect after this long. */
const REMEMBERED_MS = 60_000
const REMEMBERED_MAX = 10_000
/** After a read that failed. */
const AGAIN_MS = 1_000
/** Without a burst of its own, a bucket holds what this many seconds fill in. */
export const BURST_SECONDS = 10

/** `begun` and `taken` number the reads: the last that began, and the one that the size is of. */
type Known = { size: BucketSize; until: number; begun: number; taken: number }

/** Follows the settings of platforms. `perSecond` is the installation's default. The database's role is the one that reads keys. */
export function createLiveRates(options: {
  readonly database: Database
  readonly logger: Logger
  readonly nowMs: () => number
  readonly perSecond: number
}): LiveRates {
  const { database, logger, nowMs, perSecond } = options
  const usual = { perSecond, burst: perSecond * BURST_SECONDS }
  const known = new Map<string, Known>()
  // What was known holds until the change is read.
  const refresh = (): void => {
    for (const entry of known.values()) entry.until = 0
  }
  const listener = listen(database, 'millrace_changes', {
    onMessage: table => {
      if (table === 'platforms') refresh()
    },
    onConnect: refresh,
    logger,
  })
  const read = async (entry: Known, tenant: Tenant): Promise<void> => {
    entry.begun += 1
    const turn = entry.begun
    try {
      const own = await readSettings(database, tenant)
      // One that began later may have ended before, and saw what was set in between.
      if (turn < entry.taken) return
      entry.taken = turn
      const rate = own.requests_per_second ?? perSecond
      entry.size = { perSecond: rate, burst: own.burst ?? rate * BURST_SECONDS }
    } catch (error) {
      entry.until = Math.min(entry.until, nowMs() + AGAIN_MS)
      logger.warn({ err: error }, 'the rate of a platform cannot be read; the one before holds')
    }
  }
  const open = (name: string): Known => {
    if (known.size >= REMEMBERED_MAX) known.clear()
    const entry = { size: usual, until: 0, begun: 0, taken: 0 }
    known.set(name, entry)
    return entry
  }
  return {
    usual,
    of: tenant => {
      const name = `${tenant.platformId} ${tenant.environment}`
      const entry = known.get(name) ?? open(name)
      if (entry.until <= nowMs()) {
        entry.until = nowMs() + REMEMBERED_MS
        void read(entry, tenant)
      }
      return entry.size
    },
    close: () => listener.close(),
  }
}

type Settings = { readonly requests_per_second?: number | null; readonly burst?: number | null }

async function readSettings(database: Database, { platformId, environment }: Tenant): Promise<Settings> {
  const { rows } = await asSystem(database, 'load-request-rates', tx =>
    tx.execute<{ api_settings: Settings }>(sql`
      select api_settings from platforms where platform_id = ${platformId} and environment = ${environment}`),
  )
  return rows[0]?.api_settings ?? {}
}
