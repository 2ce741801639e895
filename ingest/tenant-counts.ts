// What became of each platform's requests, minute by minute: counted in memory, which costs a request next to nothing, and written
// every few seconds for all platforms together.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../shared/database/database.ts'
import type { ErrorCode } from '../shared/errors.ts'
import type { Logger } from '../shared/process/logger.ts'
import type { Tenant } from '../shared/tenant.ts'
import { type Clock, formatInstant, instantOf } from '../shared/time.ts'

export type TenantCounts = {
  /** A request that was answered 201: its events, and how many of them were repeats that the log was spared. */
  accepted(tenant: Tenant, events: number, repeated: number): void
  /** A request that was refused. */
  refused(tenant: Tenant, code: ErrorCode): void
  /** Writes what is not written yet. */
  close(): Promise<void>
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const WRITTEN_EVERY_MS = 2_000
/** Minutes of platforms that wait for the database; what comes first goes first. */
const KEPT_MAX = 50_000
const KEPT_DAYS = 31

type Entry = {
  readonly tenant: Tenant
  readonly minute: number
  readonly totals: Map<string, number>
  changed: boolean
}

/** `gateway` names this process among all: only it writes its rows. */
export function createTenantCounts(options: {
  readonly database: Database
  readonly logger: Logger
  readonly clock: Clock
  readonly gateway: string
}): TenantCounts {
  const { database, logger, clock, gateway } = options
  const entries = new Map<string, Entry>()
  let last: Entry | null = null
  let cleanedHour = 0

  const entryOf = (tenant: Tenant): Entry => {
    const minute = Math.floor(clock.now() / MINUTE_MS)
    const { platformId, environment } = tenant
    // Requests of one platform come in runs.
    if (last?.minute === minute && last.tenant.platformId === platformId && last.tenant.environment === environment)
      return last
    const name = `${minute} ${environment} ${platformId}`
    last = entries.get(name) ?? { tenant: { platformId, environment }, minute, totals: new Map(), changed: false }
    if (entries.size >= KEPT_MAX) {
      for (const oldest of entries.keys()) {
        entries.delete(oldest)
        break
      }
    }
    entries.set(name, last)
    return last
  }
  const add = (tenant: Tenant, outcome: string, number: number): void => {
    if (number === 0) return
    const entry = entryOf(tenant)
    entry.totals.set(outcome, (entry.totals.get(outcome) ?? 0) + number)
    entry.changed = true
  }

  const write = async (): Promise<void> => {
    const changed = [...entries.values()].filter(entry => entry.changed)
    const now = clock.now()
    for (const entry of changed) entry.changed = false
    try {
      const hour = Math.floor(now / HOUR_MS)
      if (changed.length === 0 && hour === cleanedHour) return
      await asSystem(database, 'note-ingestion', async tx => {
        if (changed.length > 0) await tx.execute(upsert(gateway, changed))
        if (hour !== cleanedHour)
          await tx.execute(
            sql`delete from ingestion_minutes where minute < ${formatInstant(now)}::timestamptz - make_interval(days => ${KEPT_DAYS})`,
          )
      })
      cleanedHour = hour
      // A minute that is over and written is not needed any more; one request may still be counted in the one before.
      for (const [name, entry] of entries)
        if (!entry.changed && entry.minute < Math.floor(now / MINUTE_MS) - 1) entries.delete(name)
    } catch (error) {
      for (const entry of changed) entry.changed = true
      logger.warn({ err: error }, 'the counts of ingestion could not be written; it will be tried again')
    }
  }
  let writing: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    writing = writing.then(write)
  }, WRITTEN_EVERY_MS)
  timer.unref()
  return {
    accepted: (tenant, events, repeated) => {
      add(tenant, 'ACCEPTED', events)
      add(tenant, 'REPEATED', repeated)
    },
    refused: (tenant, code) => add(tenant, code, 1),
    close: async () => {
      clearInterval(timer)
      await writing
      await write()
    },
  }
}

/** In one order, so that two gateways never wait for each other. */
function upsert(gateway: string, entries: readonly Entry[]) {
  const rows = entries.flatMap(({ tenant, minute, totals }) =>
    [...totals].map(([outcome, total]) => ({
      platform_id: tenant.platformId,
      environment: tenant.environment,
      minute: formatInstant(instantOf(minute * MINUTE_MS)),
      outcome,
      total,
    })),
  )
  return sql`
    insert into ingestion_minutes (platform_id, environment, minute, gateway, outcome, total)
    select r.platform_id, r.environment, r.minute, ${gateway}, r.outcome, r.total
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r(platform_id text, environment environment, minute timestamptz, outcome text, total bigint)
    order by r.platform_id, r.environment, r.minute, r.outcome
    on conflict (platform_id, environment, minute, gateway, outcome) do update set total = excluded.total`
}
