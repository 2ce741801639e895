// The embedded PostgreSQL service: a real server from npm, on the loopback interface, with a random password.
import { execFile } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { endProcess, identify } from '../../shared/process/pid-file.ts'
import { type Child, type Progress, type Service, startChild, waitUntilReady } from './child.ts'
import type { ServiceOptions } from './clickhouse.ts'
import { missingExtensions, postgresPrograms } from './postgres-binaries.ts'
import { canRun, postgresUser, type SystemUser } from './postgres-user.ts'
import { secretIn } from './secret.ts'

const run = promisify(execFile)
const ROLE = 'millrace'
const DATABASE = 'millrace'
const READY_TIMEOUT_MS = 90_000
/** The least of what Linux, macOS and the BSDs allow, with its last zero. */
const SOCKET_PATH_BYTES_MAX = 103
/** Where root keeps what the server's user could not reach under DATA_DIR. */
const SYSTEM_FOLDER = '/var/lib/millrace'

export type PostgresOptions = ServiceOptions & {
  /** For tests alone: what is committed is lost when the machine stops. */
  readonly forgetful?: boolean
  /** For tests alone: the server also listens on a Unix socket, and the url gives its folder to `pg`. The host and port in the url stay those of TCP. */
  readonly socket?: boolean
  /** Settings of the server beside ours. */
  readonly settings?: Readonly<Record<string, string>>
}

export type PostgresPlace = { readonly user: SystemUser | null; readonly native: string; readonly folder: string }

/** A folder only the server's user enters. */
function ownedFolder(folder: string, user: SystemUser | null): string {
  mkdirSync(folder, { recursive: true })
  if (user) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  return folder
}

/** Who runs the server, from which programs, and where its data lies. */
export async function findPlace(dataDir: string, log: Progress): Promise<PostgresPlace> {
  const user = await postgresUser(log)
  // The log and the pid file stay outside, in a folder that is ours: what we write as root, the server's user cannot move.
  mkdirSync(dataDir, { recursive: true })
  chmodSync(dataDir, user ? 0o711 : 0o700)
  const wanted = ownedFolder(join(resolve(dataDir), 'server'), user)
  if (!user) return { user, native: await postgresPrograms(null, wanted, log), folder: wanted }
  // Named by a mark kept in the data folder: when that folder is removed for a fresh start, this starts afresh with it.
  const elsewhere = join(SYSTEM_FOLDER, secretIn(join(dataDir, 'mark')).slice(0, 12))
  // Data once begun elsewhere stays there, even if the folder has been opened since.
  const reachable = !existsSync(elsewhere) && (await canRun(user, 'test', ['-w', wanted]))
  const folder = reachable ? wanted : ownedFolder(elsewhere, user)
  if (!reachable) log(`the user ${user.name} cannot reach ${wanted}; PostgreSQL keeps its data in ${elsewhere}`)
  return { user, native: await postgresPrograms(user, SYSTEM_FOLDER, log), folder }
}

const asUser = (user: SystemUser | null) => (user ? { uid: user.uid, gid: user.gid } : {})

/** Makes the database cluster unless there is one. Built aside and renamed, so a killed start leaves none half made. */
async function initialise({ user, native, folder }: PostgresPlace, passwordFile: string): Promise<void> {
  const data = join(folder, 'data')
  if (existsSync(data)) return
  const draft = join(folder, 'data.new')
  rmSync(draft, { recursive: true, force: true })
  const cluster = ['-D', draft, '-U', ROLE, '--locale=C', '--encoding=UTF8', '--data-checksums', '--no-instructions']
  try {
    await run(join(native, 'bin', 'initdb'), [...cluster, '--auth=scram-sha-256', `--pwfile=${passwordFile}`], {
      cwd: folder,
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      ...asUser(user),
    })
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    throw new Error(`PostgreSQL cannot make its database in ${folder}:\n${output.trim()}`, { cause: error })
  }
  renameSync(draft, data)
}

/** A server of another major version wrote this data: say so instead of letting the server die in its log. */
async function checkVersion({ native, folder }: PostgresPlace): Promise<void> {
  const { stdout } = await run(join(native, 'bin', 'postgres'), ['--version'], { cwd: '/' })
  const program = /\) (\d+)/.exec(stdout)?.[1]
  const data = readFileSync(join(folder, 'data', 'PG_VERSION'), 'utf8').trim()
  if (program !== data)
    throw new Error(
      `The data in ${folder} is of PostgreSQL ${data}, the programs are of ${program}: move the data with pg_dump`,
    )
}

/**
 * Ends a server that an earlier start left on this data, and removes the lock of one that is gone: its pid may belong to
 * some other process by now, and PostgreSQL would then refuse to start.
 */
async function clearPostmaster(data: string): Promise<void> {
  const lock = join(data, 'postmaster.pid')
  if (!existsSync(lock)) return
  const pid = Number(readFileSync(lock, 'utf8').split('\n')[0])
  const identity = Number.isSafeInteger(pid) && pid > 1 ? identify(pid) : null
  const command = identity ? await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => null) : null
  if (identity && command?.stdout.includes(`-D ${data}`)) {
    const ended = (await endProcess(identity, 'SIGINT', 20_000)) || (await endProcess(identity, 'SIGQUIT', 10_000))
    if (!ended) throw new Error(`PostgreSQL (pid ${pid}) of an earlier start does not end; stop it by hand`)
  }
  rmSync(lock, { force: true })
}

/**
 * What a server goes without whose data need not outlive a crash of its machine. A crash of a client it withstands. Tests make dozens of
 * databases, and each is visited once in a nap.
 */
const FORGETFUL = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum_naptime: '1min' }

function serverArgs(data: string, port: number, more: Readonly<Record<string, string>>): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    synchronous_commit: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The statements here are short; compiling one costs more than running it.
    jit: 'off',
    // Until a table was analyzed for the first time, all its indexes cost the planner the same, and it may keep plans that read a whole
    // tenant for one row. By default that lasts up to a minute, in which a new installation may already bill thousands.
    autovacuum_naptime: '5s',
    ...more,
  }
  return [
    '-D',
    data,
    '-p',
    String(port),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}

async function tryConnect(url: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  // A server that is shutting down may cut the connection at any time; the promise below reports it.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await client.end().catch(() => {})
  }
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`)
  } finally {
    await client.end()
  }
}

/** Where the server makes its socket; null where its path would be longer than systems allow. */
function socketFolder({ folder }: PostgresPlace, port: number): string | null {
  const isTooLong = Buffer.byteLength(join(folder, `.s.PGSQL.${port}`)) > SOCKET_PATH_BYTES_MAX
  return isTooLong || process.platform === 'win32' ? null : folder
}

function startServer(
  { user, native, folder }: PostgresPlace,
  options: PostgresOptions,
  sockets: string | null,
): Promise<Child> {
  const { dataDir, port, forgetful = false, settings = {} } = options
  const more = {
    ...(forgetful ? FORGETFUL : {}),
    ...(sockets === null ? {} : { unix_socket_directories: sockets }),
    ...settings,
  }
  return startChild({
    name: 'PostgreSQL',
    command: join(native, 'bin', 'postgres'),
    args: serverArgs(join(folder, 'data'), port, more),
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    cwd: folder,
    user,
    port,
    pidFile: join(dataDir, 'server.pid.json'),
    logFile: join(dataDir, 'server.log'),
    // A fast shutdown: sessions are cut, everything committed is kept and checkpointed.
    stopSignal: 'SIGINT',
    stopTimeoutMs: 30_000,
  })
}

/** Starts PostgreSQL on `dataDir` and waits until it takes queries. The url names a database that exists. */
export async function startPostgres(options: PostgresOptions): Promise<Service> {
  const { dataDir, port, log, signal } = options
  const place = await findPlace(dataDir, log)
  const passwordFile = join(place.folder, 'password')
  const password = secretIn(passwordFile)
  if (place.user) chownSync(passwordFile, place.user.uid, place.user.gid)
  if (!existsSync(join(place.folder, 'data'))) log('PostgreSQL makes its database (once)')
  await initialise(place, passwordFile)
  await checkVersion(place)
  await clearPostmaster(join(place.folder, 'data'))
  const missing = missingExtensions(place.native)
  if (missing.length > 0) log(`PostgreSQL here lacks the extensions ${missing.join(', ')}`)
  const sockets = options.socket ? socketFolder(place, port) : null
  const child = await startServer(place, options, sockets)
  const query = sockets === null ? '' : `?host=${encodeURIComponent(sockets)}`
  const urlOf = (database: string) => `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}${query}`
  try {
    await waitUntilReady(child, { timeoutMs: READY_TIMEOUT_MS, signal }, () => tryConnect(urlOf('postgres')))
    await ensureDatabase(urlOf('postgres'))
  } catch (error) {
    await child.stop()
    throw error
  }
  log(`PostgreSQL answers on port ${port}`)
  return { url: urlOf(DATABASE), child, stop: () => child.stop() }
}

/** The address of the server that `startPostgres` runs on `dataDir`, for commands beside it; null when none was ever made. */
export function embeddedDatabaseUrl(dataDir: string, port: number): string | null {
  const mark = join(dataDir, 'mark')
  const elsewhere = existsSync(mark) ? [join(SYSTEM_FOLDER, secretIn(mark).slice(0, 12))] : []
  // In the order of `findPlace`: data once begun elsewhere stays there.
  const file = [...elsewhere, join(dataDir, 'server')].map(folder => join(folder, 'password')).find(existsSync)
  return file === undefined ? null : `postgres://${ROLE}:${secretIn(file)}@127.0.0.1:${port}/${DATABASE}`
}
