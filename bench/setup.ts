// What the benchmark needs around the gateway: PostgreSQL with a platform, a key and a meter, and NATS.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { prepareJobSchema } from '../api/jobs/job-schema.ts'
import { freePort } from '../infra/services/child.ts'
import { startClickHouse } from '../infra/services/clickhouse.ts'
import { startNats } from '../infra/services/nats.ts'
import { startPostgres } from '../infra/services/postgres.ts'
import { createPlatform } from '../shared/access/create-platform.ts'
import { migrate } from '../shared/database/migrate.ts'
import { newId } from '../shared/ids.ts'
import type { Tenant } from '../shared/tenant.ts'
import { prepareTestLogins } from '../shared/testing/database-logins.ts'
import { endWithUs, removeWithUs } from './end-with-us.ts'
import { METER_REFERENCE, PROPERTY_REFERENCE, VALUE_REFERENCES } from './load/events.ts'
import { type Running, startModule } from './processes.ts'

export type Setup = {
  readonly databaseUrl: string
  readonly natsUrl: string
  readonly apiKey: string
  /** Whose key it is. */
  readonly tenant: Tenant
  /** The servers started here, by name. */
  readonly pids: Readonly<Record<string, number>>
  /** Starts ClickHouse, or takes BENCH_CLICKHOUSE_URL. Returns its url. */
  startClickHouse(): Promise<string>
  startAggregator(clickhouseUrl: string, database: string): Promise<Running>
  stop(): Promise<void>
}

const log = (line: string): void => console.log(`  ${line}`)

/** PostgreSQL as it ships; with BENCH_STATEMENTS=1 it also counts what each statement takes. */
const startWatched: typeof startPostgres = options =>
  startPostgres({ ...options, ...(process.env['BENCH_STATEMENTS'] === '1' ? { settings: COUNT_STATEMENTS } : {}) })
const COUNT_STATEMENTS = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track_planning': 'on' }

/**
 * Takes BENCH_DATABASE_URL and BENCH_NATS_URL, or starts servers of its own in a temporary folder. `unsynced`: with a broker of its own that
 * does not sync before it acknowledges.
 */
export async function setUp({ unsynced = false }: { readonly unsynced?: boolean } = {}): Promise<Setup> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  // PostgreSQL runs as another user when we are root, and must get through to its own folder.
  chmodSync(folder, 0o711)
  const pids: Record<string, number> = {}
  const forgetFolder = removeWithUs(folder)
  const removeFolder = async (): Promise<void> => {
    rmSync(folder, { recursive: true, force: true })
    forgetFolder()
  }
  const closers: (() => Promise<void>)[] = [removeFolder]
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const databaseUrl = process.env['BENCH_DATABASE_URL'] ?? (await own(startWatched, 'postgres'))
    const natsUrl = unsynced
      ? await own(options => startNats({ ...options, unsynced }), 'nats')
      : (process.env['BENCH_NATS_URL'] ?? (await own(startNats, 'nats')))
    await migrate(databaseUrl)
    await prepareJobSchema(databaseUrl)
    await prepareTestLogins(databaseUrl)
    const platform = await createPlatform(databaseUrl, 'Benchmark')
    await insertMeter(databaseUrl, platform.id)
    return {
      databaseUrl,
      natsUrl,
      apiKey: platform.environments.LIVE.api_key,
      tenant: { platformId: platform.id, environment: 'LIVE' },
      pids,
      startClickHouse: async () => process.env['BENCH_CLICKHOUSE_URL'] ?? (await own(startClickHouse, 'clickhouse')),
      startAggregator: (clickhouseUrl, database) =>
        startAggregator({ natsUrl, clickhouseUrl, database, dataDir: join(folder, 'aggregator') }),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }

  async function own(start: typeof startPostgres, name: string): Promise<string> {
    const service = await start({ dataDir: join(folder, name), port: await freePort(), log })
    // PostgreSQL removes its shared memory then, and does not wait for its clients.
    const forget = endWithUs(service.child.pid, 'SIGINT')
    closers.push(async () => {
      await service.stop()
      forget()
    })
    pids[name] = service.child.pid
    return service.url
  }
}

async function startAggregator(options: {
  natsUrl: string
  clickhouseUrl: string
  database: string
  dataDir: string
}): Promise<Running> {
  const port = await freePort()
  return await startModule(
    'aggregator/main',
    {
      HOST: '127.0.0.1',
      PORT: String(port),
      LOG_LEVEL: 'info',
      DATA_DIR: options.dataDir,
      NATS_URL: options.natsUrl,
      CLICKHOUSE_URL: options.clickhouseUrl,
      CLICKHOUSE_DATABASE: options.database,
    },
    { healthPort: port },
  )
}

/** Adds the ACTIVE meter of the benchmark's events to LIVE, past the api, as the database's owner. */
export async function insertMeter(databaseUrl: string, platformId: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const values = VALUE_REFERENCES.map(reference => ({ id: newId('metv'), reference, required: true }))
    const property = { id: newId('metp'), reference: PROPERTY_REFERENCE, required: true }
    for (const { id, reference } of values) {
      await client.query(
        `insert into meter_values (platform_id, environment, id, reference, name, status, type, created_at, updated_at)
         values ($1, 'LIVE', $2, $3, $3, 'ACTIVE', 'NUMBER', now(), now())`,
        [platformId, id, reference],
      )
    }
    await client.query(
      `insert into meter_properties (platform_id, environment, id, reference, name, status, type, created_at, updated_at)
       values ($1, 'LIVE', $2, $3, $3, 'ACTIVE', 'STRING', now(), now())`,
      [platformId, property.id, property.reference],
    )
    await client.query(
      `insert into meters (platform_id, environment, id, reference, status, meter_values, meter_properties, created_at, updated_at)
       values ($1, 'LIVE', $2, $3, 'ACTIVE', $4, $5, now(), now())`,
      [platformId, newId('metr'), METER_REFERENCE, JSON.stringify(values), JSON.stringify([property])],
    )
  } finally {
    await client.end()
  }
}
