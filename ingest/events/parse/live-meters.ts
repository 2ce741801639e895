// All active meters in memory, so that an event is checked without a look-up and while PostgreSQL is down.
import { sql } from 'drizzle-orm'
import { createRefresher } from '../../../shared/access/refresher.ts'
import { asSystem, type Database } from '../../../shared/database/database.ts'
import { listen } from '../../../shared/database/listen.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Logger } from '../../../shared/process/logger.ts'
import type { Environment, Tenant } from '../../../shared/tenant.ts'
import {
  createMeter,
  createMeterSet,
  type Meter,
  type MeterProperty,
  type MeterSet,
  type MeterValue,
  NO_METERS,
} from './meter.ts'

export type LiveMeters = {
  /** Loads the meters now: await it at the start, so that a fault shows there. */
  load(): Promise<void>
  of(tenant: Tenant): MeterSet
  /** Resolves when the meters are at least as new as this call. Throws SERVICE_UNAVAILABLE when that cannot be had. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/** The net under the notifications. */
const POLL_MS = 5_000
/** Events of unknown meters cause at most five queries a second, however many come. */
const GAP_MS = 200
const TABLES = new Set(['meters', 'meter_values', 'meter_properties'])

type Row = {
  platform_id: string
  environment: Environment
  id: string
  reference: string
  meter_values: readonly MeterValue[]
  meter_properties: readonly (Omit<MeterProperty, 'enumValues'> & { enum_values: readonly string[] | null })[]
}

/** Keeps the active meters of every tenant and follows changes. The database's role must be the gateway's. */
export function createLiveMeters(options: { database: Database; logger: Logger; pollMs?: number }): LiveMeters {
  const { database, logger, pollMs = POLL_MS } = options
  let sets: Record<Environment, Map<string, MeterSet>> = { LIVE: new Map(), TEST: new Map() }
  let fingerprint = ''

  const load = async (): Promise<void> => {
    const latest = await readFingerprint(database)
    if (latest === fingerprint) return
    sets = groupByTenant(await readMeters(database))
    // Taken before the rows: a change in between is loaded twice, never missed.
    fingerprint = latest
  }
  const refresher = createRefresher({ name: 'the meters', load, pollMs, gapMs: GAP_MS, logger })
  const listener = listen(database, 'millrace_changes', {
    onMessage: table => {
      if (TABLES.has(table)) refresher.poke()
    },
    onConnect: refresher.poke,
    logger,
  })
  return {
    load: refresher.refresh,
    of: tenant => sets[tenant.environment].get(tenant.platformId) ?? NO_METERS,
    refresh: async () => {
      try {
        await refresher.refresh()
      } catch (cause) {
        throw new AppError('SERVICE_UNAVAILABLE', 'The meter cannot be looked up right now; send the request again.', {
          retryAfterSeconds: 2,
          cause,
        })
      }
    },
    close: async () => {
      await listener.close()
      await refresher.close()
    },
  }
}

// Tells whether anything changed without moving every meter of every tenant: the row versions of the three small tables.
async function readFingerprint(database: Database): Promise<string> {
  const result = await asSystem(database, 'load-meters', tx =>
    tx.execute<{ fingerprint: string }>(sql`
      select concat_ws('/',
        (select count(*) || ':' || coalesce(sum(hashtextextended(id || xmin::text, 0)::numeric), 0) from meters),
        (select count(*) || ':' || coalesce(sum(hashtextextended(id || xmin::text, 0)::numeric), 0) from meter_values),
        (select count(*) || ':' || coalesce(sum(hashtextextended(id || xmin::text, 0)::numeric), 0) from meter_properties)
      ) as fingerprint`),
  )
  return result.rows[0]?.fingerprint ?? ''
}

async function readMeters(database: Database): Promise<Row[]> {
  const result = await asSystem(database, 'load-meters', tx =>
    tx.execute<Row>(
      sql`select platform_id, environment, id, reference, meter_values, meter_properties from ingest_meters`,
    ),
  )
  return result.rows
}

function groupByTenant(rows: readonly Row[]): Record<Environment, Map<string, MeterSet>> {
  const meters: Record<Environment, Map<string, Meter[]>> = { LIVE: new Map(), TEST: new Map() }
  for (const row of rows) {
    const list = meters[row.environment].get(row.platform_id) ?? []
    list.push(toMeter(row))
    meters[row.environment].set(row.platform_id, list)
  }
  const close = (byPlatform: Map<string, Meter[]>) =>
    new Map([...byPlatform].map(([platform, list]) => [platform, createMeterSet(list)]))
  return { LIVE: close(meters.LIVE), TEST: close(meters.TEST) }
}

const toMeter = (row: Row): Meter =>
  createMeter({
    id: row.id,
    reference: row.reference,
    values: row.meter_values,
    properties: row.meter_properties.map(({ id, reference, type, required, enum_values }) => ({
      id,
      reference,
      type,
      required,
      enumValues: new Set(enum_values),
    })),
  })
