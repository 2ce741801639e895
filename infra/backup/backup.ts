// What a backup is: a folder with the three stores of an installation, its secrets, and a page that says what is in it.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { systemClock } from '../../shared/time.ts'
import type { Progress } from '../services/child.ts'
import { embeddedDatabaseUrl } from '../services/postgres.ts'
import { embeddedUrl } from '../start/embedded-url.ts'
import type { Settings } from '../start/settings.ts'
import { backUpClickHouse } from './copy-clickhouse.ts'
import { backUpPostgres } from './copy-postgres.ts'
import { backUpStreams } from './copy-streams.ts'

/** Written last, so that a folder without it is no backup. */
const ABOUT = 'backup.json'
const FORMAT = 1
/** In DATA_DIR and not among its files: data of services, and what only a running installation needs. */
const NOT_FILES = /^(postgres|clickhouse|nats|index|logs|run|start\.lock.*|restore-unfinished)$/

export type About = {
  readonly format: number
  readonly made_at: string
  /** What is in it; a service of the operator's own is not. */
  readonly postgres: boolean
  readonly clickhouse: boolean
  /** The streams of the usage log. */
  readonly nats: readonly string[] | false
}

/** The parts of a backup in its folder. */
export const partsOf = (folder: string) => ({
  files: join(folder, 'files'),
  postgres: join(folder, 'postgres'),
  postgresPassword: join(folder, 'postgres-password'),
  clickhouse: join(folder, 'clickhouse'),
  streams: join(folder, 'streams'),
})

/** What a backup says of itself. Throws when `folder` is none, or one of another version. */
export function readAbout(folder: string): About {
  const file = join(folder, ABOUT)
  if (!existsSync(file)) throw new Error(`${folder} is not a backup: it has no ${ABOUT}`)
  const about = JSON.parse(readFileSync(file, 'utf8')) as About
  if (about.format !== FORMAT)
    throw new Error(`${folder} is a backup of format ${about.format}; restore it with the version that made it`)
  return about
}

/** Whether `path` is `folder` or inside it. */
const isInside = (path: string, folder: string): boolean => !relative(folder, path).startsWith('..')

/**
 * Backs up the installation of npm start that runs on these settings into `target`, which must not exist yet. What it does not run
 * itself is not part of it. The order matters: invoices name usage that is stored, and stored usage names places in the log, so the log
 * comes last, and holds everything that the others know.
 */
export async function backUp(settings: Settings, target: string, log: Progress): Promise<About> {
  const folder = resolve(target)
  if (existsSync(folder)) throw new Error(`${folder} exists already; name a folder that does not`)
  if (isInside(folder, settings.dataDir))
    throw new Error(`${folder} is inside ${settings.dataDir} and would be lost with it; name a folder elsewhere`)
  const draft = `${folder}.unfinished`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  const parts = partsOf(draft)
  const { external } = settings
  if (external.databaseUrl === null) {
    const url = embeddedDatabaseUrl(join(settings.dataDir, 'postgres'), settings.port('postgres'))
    if (url === null) throw new Error(`no installation of npm start is in ${settings.dataDir}`)
    await backUpPostgres(url, parts.postgres)
    writeFileSync(parts.postgresPassword, new URL(url).password, { mode: 0o600 })
    log('PostgreSQL is backed up')
  } else log('PostgreSQL is your own: back it up first, by its own means')
  if (external.clickhouseUrl === null) {
    const url = embeddedUrl(settings, 'clickhouse')
    const serverFolder = join(settings.dataDir, 'clickhouse')
    await backUpClickHouse({ url, database: settings.clickhouseDatabase, serverFolder }, parts.clickhouse)
    log('ClickHouse is backed up')
  } else log('ClickHouse is your own: back it up after PostgreSQL, by its own means')
  const streams = external.natsUrl === null && (await backUpStreams(embeddedUrl(settings, 'nats'), parts.streams))
  if (streams) log(`The usage log is backed up (${streams.length} streams)`)
  else log('NATS is your own: back up its streams last, by its own means')
  copyFiles(settings.dataDir, parts.files)
  const about: About = {
    format: FORMAT,
    made_at: new Date(systemClock.now()).toISOString(),
    postgres: external.databaseUrl === null,
    clickhouse: external.clickhouseUrl === null,
    nats: streams,
  }
  writeFileSync(join(draft, ABOUT), `${JSON.stringify(about, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, folder)
  return about
}

/** Secrets, logins and records of the installation itself. */
function copyFiles(dataDir: string, to: string): void {
  mkdirSync(to, { mode: 0o700 })
  for (const name of readdirSync(dataDir))
    if (!NOT_FILES.test(name)) cpSync(join(dataDir, name), join(to, name), { recursive: true })
}
