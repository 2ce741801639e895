// The connections of a process to PostgreSQL. Only the files of shared/database reach them (see .dependency-cruiser.cjs).
import pg from 'pg'
import type { Logger } from '../../process/logger.ts'
import { createUnlessHung, type UnlessHung } from '../../process/unless-hung.ts'
import { withTestTime } from '../../test-time.ts'
import type { Clock } from '../../time.ts'
import { isUnavailable, UnknownCommitError } from '../driver-errors.ts'
import { closableClients } from './closable-clients.ts'
import { probePostgres } from './probe.ts'

/** What a process may log in to the database as. What each role may touch is in the migrations. */
export const DATABASE_ROLES = ['millrace_app', 'millrace_gateway', 'millrace_worker', 'millrace_identity'] as const
export type DatabaseRole = (typeof DATABASE_ROLES)[number]

const pools = new WeakMap<Database, pg.Pool>()
const guards = new WeakMap<pg.Pool, UnlessHung>()

/** A handle on the database in one role; made by `openDatabase`. */
export type Database = {
  readonly role: DatabaseRole
  readonly clock: Clock
  readonly context?: unknown
  close(): Promise<void>
}

/** The same connections; each unit of work that is opened on them carries `context`. */
export function withContext(database: Database, context: unknown): Database {
  const carrying = { ...database, context }
  const pool = pools.get(database)
  // What builds the api for its description alone has no database open.
  if (pool) pools.set(carrying, pool)
  return carrying
}

/**
 * Times are written in UTC. Pages lie on disks without moving heads, or in memory, so that an index is worth reading; and no question
 * is long enough for its plan to be compiled, which takes longer than most of them.
 */
const SESSION = '-c TimeZone=UTC -c random_page_cost=1.1 -c jit=off'

/** A caller of the api is answered within 5 s; a job may wait longer for its turn. */
const CONNECT_MS = 10_000

/**
 * How long a connection is kept that nobody uses. A new one has read no catalog and planned no statement yet, so its first answers take
 * several times as long. Firewalls and load balancers between here and the database forget what was idle for four minutes or more.
 */
const IDLE_MS = 180_000

export type PoolOptions = {
  /** Logs in as `role`. */
  readonly url: string
  readonly role: DatabaseRole
  readonly clock: Clock
  readonly logger: Logger
  readonly poolMax: number
  /** How long a unit of work may wait for a connection. */
  readonly connectMs?: number
  /** After which a statement is given up. */
  readonly statementMs?: number
}

const STATEMENT_MS = 30_000

/** Opens no connection before one is needed. `more`: further options of each session. */
export function openPool(options: PoolOptions, more: string): Database {
  const { url, role, clock, logger, poolMax, connectMs, statementMs = STATEMENT_MS } = options
  const { Client, closeAll } = closableClients()
  const pool = new pg.Pool({
    Client,
    connectionString: url,
    max: poolMax,
    options: `${more}${SESSION} -c statement_timeout=${statementMs} -c idle_in_transaction_session_timeout=60000`,
    connectionTimeoutMillis: connectMs ?? CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    // What is sent while an answer is on its way does not wait for it; see transact.
    pipeline: true,
  } as pg.PoolConfig)
  pool.on('error', error => logger.warn({ err: error }, 'an idle database connection was lost'))
  const database: Database = { role, clock: withTestTime(clock), close: () => closeAll(pool.end()) }
  pools.set(database, pool)
  guards.set(
    pool,
    createUnlessHung('PostgreSQL', signal => probePostgres(url, signal)),
  )
  return database
}

/** Throws for a database that was never opened. */
export function poolOf(database: Database): pg.Pool {
  const pool = pools.get(database)
  if (!pool) throw new Error('the database is not open')
  return pool
}

const committing = new WeakSet<pg.PoolClient>()

/** Notes that the work on this connection sends its commit now. */
export const noteCommit = (client: pg.PoolClient): void => void committing.add(client)

/**
 * Works on a connection of its own. One that was lost is not given back to the pool, and always leaves it. Throws UnknownCommitError
 * when the connection is lost, or the server hangs, after the commit was sent.
 */
export async function onClient<T>(
  database: Database,
  work: (client: pg.PoolClient, onLost: (error: Error) => void) => Promise<T>,
): Promise<T> {
  const client = await poolOf(database).connect()
  let lost: Error | undefined
  // Nobody else hears of a connection that breaks between two queries; unheard, it would end the process.
  const onError = (error: Error): void => {
    lost = error
  }
  client.on('error', onError)
  const transaction = work(client, onError)
  try {
    const guard = guards.get(poolOf(database))
    // The connection to a server that hangs is given up below; nothing, not even the rollback, waits for it.
    return guard ? await guard.answerOf(transaction, onError) : await transaction
  } catch (error) {
    if (!isUnavailable(error)) throw error
    lost ??= error instanceof Error ? error : new Error(String(error))
    throw committing.has(client) ? new UnknownCommitError(error) : error
  } finally {
    committing.delete(client)
    client.off('error', onError)
    client.release(lost)
  }
}
