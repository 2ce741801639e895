// Brings a backup into an empty data folder, in which the next start finds it.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Progress, Service } from '../services/child.ts'
import { startClickHouse } from '../services/clickhouse.ts'
import { startNats } from '../services/nats.ts'
import { findPlace } from '../services/postgres.ts'
import { lockDataDir } from '../start/lock.ts'
import { UNFINISHED } from '../start/refuse-unfinished.ts'
import type { Settings } from '../start/settings.ts'
import { partsOf, readAbout } from './backup.ts'
import { restoreClickHouse } from './copy-clickhouse.ts'
import { restorePostgres } from './copy-postgres.ts'
import { restoreStreams } from './copy-streams.ts'

/**
 * Restores the backup in `folder` into DATA_DIR, which must be empty: nothing is ever written over. Throws before it changes anything
 * when the backup is not whole or the settings are not those of a start that would use it.
 */
export async function restore(settings: Settings, folder: string, log: Progress): Promise<void> {
  const about = readAbout(folder)
  const { dataDir, external } = settings
  const embedded = {
    postgres: external.databaseUrl === null,
    clickhouse: external.clickhouseUrl === null,
    nats: external.natsUrl === null,
  }
  for (const service of ['postgres', 'clickhouse', 'nats'] as const)
    if (Boolean(about[service]) !== embedded[service])
      throw new Error(
        about[service]
          ? `The backup holds ${service}, and an address of your own is set for it: remove that setting`
          : `The backup does not hold ${service}: set the address of your own, restored by its own means`,
      )
  const unlock = lockDataDir(dataDir)
  try {
    const present = readdirSync(dataDir).filter(name => !name.startsWith('start.lock'))
    if (present.length > 0)
      throw new Error(
        `${dataDir} is not empty (${present.slice(0, 3).join(', ')}): move it away, or set another DATA_DIR`,
      )
    writeFileSync(join(dataDir, UNFINISHED), 'npm run restore began and did not finish\n')
    const parts = partsOf(folder)
    if (about.postgres) {
      const place = await findPlace(join(dataDir, 'postgres'), log)
      cpSync(parts.postgresPassword, join(place.folder, 'password'))
      restorePostgres(parts.postgres, place)
      log('PostgreSQL is restored')
    }
    if (about.clickhouse)
      await restoreInto(settings, { name: 'clickhouse', start: startClickHouse, log }, url =>
        restoreClickHouse(
          { url, database: settings.clickhouseDatabase, serverFolder: join(dataDir, 'clickhouse') },
          parts.clickhouse,
        ),
      )
    const streams = about.nats
    if (streams)
      await restoreInto(settings, { name: 'nats', start: startNats, log }, url =>
        restoreStreams(url, parts.streams, streams),
      )
    for (const name of readdirSync(parts.files))
      cpSync(join(parts.files, name), join(dataDir, name), { recursive: true })
    rmSync(join(dataDir, UNFINISHED))
  } finally {
    unlock()
  }
}

type Restorable = {
  readonly name: 'clickhouse' | 'nats'
  readonly start: (options: { dataDir: string; port: number; log: Progress }) => Promise<Service>
  readonly log: Progress
}

/** Runs a service for as long as it is filled. */
async function restoreInto(
  { dataDir, port }: Settings,
  { name, start, log }: Restorable,
  fill: (url: string) => Promise<void>,
): Promise<void> {
  const folder = join(dataDir, name)
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
  const service = await start({ dataDir: folder, port: port(name), log: () => {} })
  try {
    await fill(service.url)
  } finally {
    await service.stop()
  }
  log(name === 'nats' ? 'The usage log is restored' : 'ClickHouse is restored')
}
