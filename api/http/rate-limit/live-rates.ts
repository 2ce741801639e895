// How often the credentials of each platform may call: what it set for itself, or the installation's default. Read when it is first
// needed, forgotten when a platform changes.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, listen } from '../../../shared/database/database.ts'
import type { Logger } from '../../../shared/logger.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import type { BucketSize } from './token-buckets.ts'

export type LiveRates = {
  of(tenant: Tenant): BucketSize | Promise<BucketSize>
  close(): Promise<void>
}

/** A change that was never announced takes effect after this long. */
const REMEMBERED_MS = 60_000
const REMEMBERED_MAX = 10_000
/** Without a burst of its own, a bucket holds what this many seconds fill in. */
export const BURST_SECONDS = 10

type Known = { size: BucketSize | Promise<BucketSize>; readonly until: number }

/** Follows the settings of platforms. `perSecond` is the installation's default. The database's role is the one that reads keys. */
export function createLiveRates(options: {
  readonly database: Database
  readonly logger: Logger
  readonly nowMs: () => number
  readonly perSecond: number
}): LiveRates {
  const { database, logger, nowMs, perSecond } = options
  const known = new Map<string, Known>()
  const forget = (): void => known.clear()
  const listener = listen(database, 'millrace_changes', {
    onMessage: table => {
      if (table === 'platforms') forget()
    },
    onConnect: forget,
    logger,
  })
  const read = async (tenant: Tenant): Promise<BucketSize> => {
    const own = await readSettings(database, tenant)
    const rate = own.requests_per_second ?? perSecond
    return { perSecond: rate, burst: own.burst ?? rate * BURST_SECONDS }
  }
  const start = (name: string, tenant: Tenant): Known => {
    if (known.size >= REMEMBERED_MAX) known.clear()
    const size = read(tenant)
    const entry: Known = { size, until: nowMs() + REMEMBERED_MS }
    known.set(name, entry)
    size.then(
      found => {
        entry.size = found
      },
      (error: unknown) => {
        logger.warn({ err: error }, 'the rate of a platform cannot be read; the default holds')
        entry.size = { perSecond, burst: perSecond * BURST_SECONDS }
        known.delete(name)
      },
    )
    return entry
  }
  return {
    of: tenant => {
      const name = `${tenant.platformId} ${tenant.environment}`
      const found = known.get(name)
      const { size } = found && found.until > nowMs() ? found : start(name, tenant)
      // A database that is away does not keep callers from what needs none of it.
      return size instanceof Promise ? size.catch(() => ({ perSecond, burst: perSecond * BURST_SECONDS })) : size
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
