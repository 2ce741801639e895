// The backing services of one start: the embedded ones as units of the supervisor, or the addresses that were given.
import { join } from 'node:path'
import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
import { prepareJobSchema } from '../../api/jobs/job-schema.ts'
import { type Logins, loginsOf, prepareLogins } from '../../shared/database/logins.ts'
import { migrate } from '../../shared/database/migrate.ts'
import type { Progress, Service } from '../services/child.ts'
import { type ServiceOptions, startClickHouse } from '../services/clickhouse.ts'
import { monitorUrlOf, startNats } from '../services/nats.ts'
import { startPostgres } from '../services/postgres.ts'
import { secretIn } from '../services/secret.ts'
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
    let service: Service | null = null
    units.push({
      name: label,
      hasFailed: async () => (await service?.hasFailed?.()) ?? false,
      start: async signal => {
        const options = { dataDir: join(settings.dataDir, name), port: settings.port(name), log, signal }
        service = await start({ ...options, monitorPort: settings.port('natsMonitor') })
        urls[key] = service.url
        return service.child
      },
    })
  }
  await supervisor.start(units)
  const { databaseUrl, natsUrl, clickhouseUrl } = urls
  if (databaseUrl === null || natsUrl === null || clickhouseUrl === null) throw new Error('a service has no address')
  const embedded = settings.external.natsUrl === null
  const natsMonitorUrl = monitorUrlOf(join(settings.dataDir, EMBEDDED.natsUrl.name), settings.port('natsMonitor'))
  const logins = loginsIn(settings.dataDir, databaseUrl)
  return { databaseUrl, logins, natsUrl, clickhouseUrl, ...(embedded ? { natsMonitorUrl } : {}) }
}

/** The logins of the processes; their passwords are made once and kept in the data folder, readable by its owner alone. */
export const loginsIn = (dataDir: string, ownerUrl: string): Logins =>
  loginsOf(ownerUrl, role => secretIn(join(dataDir, 'logins', role)))

/** Brings both databases to the schema of this build, with the queue of the workers and the logins of the processes. */
export async function migrateAll(settings: Settings, services: ServiceUrls, log: Progress): Promise<void> {
  const [applied] = await Promise.all([
    migratePostgres(services),
    migrateClickHouse(services.clickhouseUrl, settings.clickhouseDatabase),
  ])
  log(applied.length > 0 ? `Migrated (${applied.length} new)` : 'Nothing to migrate')
}

async function migratePostgres({ databaseUrl, logins }: ServiceUrls): Promise<string[]> {
  const applied = await migrate(databaseUrl)
  await prepareJobSchema(databaseUrl)
  await prepareLogins(databaseUrl, logins)
  return applied
}
