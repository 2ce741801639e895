// The backing services of one start: the embedded ones as units of the supervisor, or the addresses that were given.
import { join } from 'node:path'
import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
import { migrate } from '../../shared/database/migrate.ts'
import type { Progress, Service } from '../services/child.ts'
import { type ServiceOptions, startClickHouse } from '../services/clickhouse.ts'
import { startNats } from '../services/nats.ts'
import { startPostgres } from '../services/postgres.ts'
import type { ServiceUrls, Settings } from './settings.ts'
import type { Supervisor, Unit } from './supervisor.ts'

const EMBEDDED = {
  databaseUrl: { name: 'postgres', label: 'PostgreSQL', start: startPostgres },
  clickhouseUrl: { name: 'clickhouse', label: 'ClickHouse', start: startClickHouse },
  natsUrl: { name: 'nats', label: 'NATS', start: startNats },
} as const satisfies Record<
  keyof Settings['external'],
  { name: string; label: string; start: (options: ServiceOptions) => Promise<Service> }
>

/** Starts what has no address, side by side, and returns every address. */
export async function startServices(settings: Settings, supervisor: Supervisor, log: Progress): Promise<ServiceUrls> {
  const urls = { ...settings.external }
  const units: Unit[] = []
  for (const key of ['databaseUrl', 'clickhouseUrl', 'natsUrl'] as const) {
    const { name, label, start } = EMBEDDED[key]
    if (urls[key] !== null) {
      log(`${label}: the one given is used`)
      continue
    }
    units.push({
      name: label,
      start: async signal => {
        const options = { dataDir: join(settings.dataDir, name), port: settings.port(name), log, signal }
        const service = await start({ ...options, monitorPort: settings.port('natsMonitor') })
        urls[key] = service.url
        return service.child
      },
    })
  }
  await supervisor.start(units)
  const { databaseUrl, natsUrl, clickhouseUrl } = urls
  if (databaseUrl === null || natsUrl === null || clickhouseUrl === null) throw new Error('a service has no address')
  const embedded = settings.external.natsUrl === null
  const natsMonitorUrl = `http://127.0.0.1:${settings.port('natsMonitor')}`
  return { databaseUrl, natsUrl, clickhouseUrl, ...(embedded ? { natsMonitorUrl } : {}) }
}

/** Brings both databases to the schema of this build. */
export async function migrateAll(settings: Settings, services: ServiceUrls, log: Progress): Promise<void> {
  const [applied] = await Promise.all([
    migrate(services.databaseUrl),
    migrateClickHouse(services.clickhouseUrl, settings.clickhouseDatabase),
  ])
  log(applied.length > 0 ? `Migrated (${applied.length} new)` : 'Nothing to migrate')
}
