// The doors to PostgreSQL. The pool itself is never exported: a query runs inside a tenant's transaction, or in one of the
// named system jobs. Row-level security is the second net, not the filter; queries carry their own tenant conditions.
import pg from 'pg'
import type { Logger } from '../process/logger.ts'
import { createUnlessHung, type UnlessHung } from '../process/unless-hung.ts'
import { untilAnswers } from '../process/until-answers.ts'
import type { Tenant } from '../tenant.ts'
import { withTestTime } from '../test-time.ts'
import type { Clock, Instant } from '../time.ts'
import { closableClients } from './closable-clients.ts'
import { isUnavailable, mapDriverError } from './driver-errors.ts'
import { probePostgres } from './probe.ts'
import {
  BEGIN_SNAPSHOT,
  runStatement,
  runTransaction,
  type Start,
  type Statement,
  type Transaction,
  takeEnd,
} from './transaction.ts'

/** What a process may log in to the database as. What each role may touch is in the migrations. */
export const DATABASE_ROLES = ['millrace_app', 'millrace_gateway', 'millrace_worker', 'millrace_identity'] as const
export type DatabaseRole = (typeof DATABASE_ROLES)[number]

/** Who acts, for the outbox and the audit trail. */
export type Actor = {
  readonly id: string | null
  readonly requestId: string | null
  readonly idempotencyKey?: string | null
  /** The user a PROXY key acts for; absent or null when the actor acts for itself. */
  readonly impersonatedUserId?: string | null
  /** The API key or the OAuth grant the call came with. */
  readonly credentialId?: string | null
  /** Where the call came from. */
  readonly ip?: string | null
  /** What the actor may do here, beyond what the call itself needs; absent for the service itself, which may do everything. */
  readonly may?: (permission: string) => boolean
}

declare const writable: unique symbol
/** A read-only transaction of one tenant. */
export type ReadUow = {
  readonly tx: Transaction
  readonly tenant: Tenant
  readonly now: Instant
  readonly actor: Actor
  /** What `withContext` gave the database it was opened on. */
  readonly context: unknown
}
/** A unit of work: one tenant, one transaction, everything in it commits together. */
export type Uow = ReadUow & {
  readonly [writable]: true
  /** Of `inDryRun`: it is rolled back in any case. */
  readonly isDryRun?: true
}

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

type Options = {
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

/**
 * Connects as `role`, and waits half a minute for a server that is starting. Throws when the login is another one, or could
 * become more than that role.
 */
export async function openDatabase(options: Options): Promise<Database> {
  const database = openPool(options, '')
  try {
    const { logger, role } = options
    const waited = { server: 'PostgreSQL', isAway: isUnavailable, logger } as const
    await untilAnswers(() => refuseUnsafeLogin(poolOf(database), role), waited)
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

/** For set-up alone: the owner of the database, at `url`, takes on `role` and can put it off again. No process opens this. */
export const openAsOwner = (options: Options): Database => openPool(options, `-c role=${options.role} `)

const STATEMENT_MS = 30_000

function openPool(options: Options, more: string): Database {
  const { url, role, clock, logger, poolMax, connectMs, statementMs = STATEMENT_MS } = options
  const { Client, closeAll } = closableClients()
  const pool = new pg.Pool({
    Client,
    connectionString: url,
    max: poolMax,
    options: `${more}${SESSION} -c statement_timeout=${statementMs} -c idle_in_transaction_session_timeout=60000`,
    connectionTimeoutMillis: connectMs ?? CONNECT_MS,
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

/**
 * Asks about the login and not about the role it has taken on, which `set role none` would put off: it must be `role` itself,
 * own nothing, bypass nothing, make no roles or databases, and be a member of no other role.
 */
async function refuseUnsafeLogin(pool: pg.Pool, role: DatabaseRole): Promise<void> {
  const { rows } = await pool.query<{ login: string; safe: boolean }>(
    `select session_user as login,
       not (r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication)
       and not exists (select from pg_auth_members where member = r.oid)
       and not exists (select from pg_shdepend
         where refclassid = 'pg_authid'::regclass and refobjid = r.oid and deptype = 'o') as safe
     from pg_roles r where r.rolname = session_user`,
  )
  const login = rows[0]?.login ?? 'nobody'
  const see = 'See docs/operating.md, PostgreSQL.'
  if (login !== role) throw new Error(`This process logs in to PostgreSQL as ${role}, not as ${login}. ${see}`)
  if (rows[0]?.safe !== true)
    throw new Error(
      `The PostgreSQL login ${role} owns objects, has special rights or is a member of another role. ${see}`,
    )
}

function poolOf(database: Database): pg.Pool {
  const pool = pools.get(database)
  if (!pool) throw new Error('the database is not open')
  return pool
}

const RETRIES_MAX = 5
const RETRYABLE = new Set(['40001', '40P01'])

/**
 * Runs `work` in one transaction of `tenant` and commits. Serialization failures and deadlocks are retried, so `work` must
 * be safe to run again; constraint violations become AppErrors. No network call belongs inside.
 */
export async function inTenant<T>(
  database: Database,
  tenant: Tenant,
  actor: Actor,
  work: (uow: Uow) => Promise<T>,
): Promise<T> {
  return await again(() =>
    transact(database, { begin: `begin;${entering(tenant)}` }, tx =>
      work({ tx, tenant, actor, now: database.clock.now(), context: database.context } as Uow),
    ),
  )
}

/**
 * Runs one statement in a transaction of `tenant` and commits, in one round trip; returns its rows. Retried and refused as inTenant.
 * For what is called thousands of times a second: a statement that decides and writes by itself.
 */
export const stateInTenant = <Row extends pg.QueryResultRow>(
  database: Database,
  tenant: Tenant,
  statement: Statement,
): Promise<Row[]> =>
  again(() => onClient(database, client => runStatement<Row>(client, `begin;${entering(tenant)}`, statement)))

/** Does it again after serialization failures and deadlocks. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      const code = driverCode(error)
      if (code === null || !RETRYABLE.has(code) || attempt >= RETRIES_MAX) throw mapDriverError(error)
      await new Promise(resolve => setTimeout(resolve, Math.random() * 20 * 2 ** attempt))
    }
  }
}

/** Runs `work` in one read-only snapshot of `tenant`; without an actor as the service itself, which may see everything. */
export async function readTenant<T>(
  database: Database,
  tenant: Tenant,
  work: (uow: ReadUow) => Promise<T>,
  actor: Actor = { id: null, requestId: null },
): Promise<T> {
  try {
    return await transact(database, { begin: `${BEGIN_SNAPSHOT};${entering(tenant)}`, readOnly: true }, tx =>
      work({ tx, tenant, actor, now: database.clock.now(), context: database.context }),
    )
  } catch (error) {
    throw mapDriverError(error)
  }
}

/**
 * Puts the tenant into the transaction, for row-level security. Throws RangeError for a tenant that cannot be named in a statement:
 * what begins a transaction must never fail to be read, or what follows it would be in none.
 */
function entering({ platformId, environment }: Tenant): string {
  if (`${platformId}${environment}`.includes('\0')) throw new RangeError('a tenant has no NUL in its name')
  return `set local app.platform_id = ${pg.escapeLiteral(platformId)};set local app.environment = ${pg.escapeLiteral(environment)}`
}

/** One transaction on a connection of its own. */
const transact = <T>(database: Database, start: Start, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  onClient(database, (client, onLost) => runTransaction(client, start, work, onLost))

/** Works on a connection of its own. One that was lost is not given back to the pool, and always leaves it. */
async function onClient<T>(
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
    if (isUnavailable(error)) lost ??= error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    client.off('error', onError)
    client.release(lost)
  }
}

/** The transaction of a system job. */
export type SystemTransaction = Transaction

/**
 * Runs a named system job in one transaction, across tenants; never as the api's role. The role's policies say at what it may
 * look: a job of the worker declares them, and a test compares (api/jobs/rights.it.test.ts).
 */
export async function asSystem<T>(
  database: Database,
  _job: string,
  work: (tx: Transaction) => Promise<T>,
  settings?: { readonly accessMode: 'read only'; readonly isolationLevel: 'repeatable read' },
): Promise<T> {
  if (database.role === 'millrace_app') throw new Error('the api role runs no system jobs')
  return await transact(database, settings ? { begin: BEGIN_SNAPSHOT, readOnly: true } : { begin: 'begin' }, work)
}

/** Listens to a notification channel on a connection of its own; calls `onMessage` and, after every (re)connect, `onConnect`. */
export function listen(
  database: Database,
  channel: 'millrace_changes',
  handlers: { onMessage: (payload: string) => void; onConnect: () => void; logger: Logger },
): { close(): Promise<void> } {
  const pool = poolOf(database)
  let closed = false
  let client: pg.PoolClient | null = null
  const connect = async (): Promise<void> => {
    while (!closed) {
      try {
        client = await pool.connect()
        // Closed meanwhile: no one will end it.
        if (closed) return client.release(true)
        const lost = new Promise<void>(resolve => {
          client?.once('error', () => resolve())
          client?.once('end', () => resolve())
        })
        client.on('notification', message => handlers.onMessage(message.payload ?? ''))
        // Inside the read that the connection made last, it would act only once that has ended.
        await client.query(`${takeEnd(client)}listen ${channel}`)
        handlers.onConnect()
        await lost
        client.release(true)
      } catch (error) {
        if (!closed) handlers.logger.warn({ err: error }, 'listening for changes failed; trying again')
      }
      client = null
      if (!closed) await new Promise(resolve => setTimeout(resolve, LISTEN_RETRY_MS))
    }
  }
  void connect()
  return {
    close: async () => {
      closed = true
      client?.emit('end')
    },
  }
}
const LISTEN_RETRY_MS = 1_000

const FAULT_MS = 2_500

/** Whether the database answers, for readiness: null when it does, the reason otherwise. Takes at most 2.5 s. */
export async function databaseFault(database: Database): Promise<string | null> {
  try {
    const tooLate = new Promise<boolean>(resolve => setTimeout(() => resolve(true), FAULT_MS).unref())
    const isTooLate = await Promise.race([
      poolOf(database)
        .query('select 1')
        .then(() => false),
      tooLate,
    ])
    return isTooLate ? `PostgreSQL does not answer: nothing within ${FAULT_MS / 1_000} s` : null
  } catch (error) {
    return `PostgreSQL does not answer: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The PostgreSQL error code of a driver error, however drizzle wrapped it; null when there is none. */
function driverCode(error: unknown): string | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string' && /^[0-9A-Z]{5}$/.test(current.code)) return current.code
  }
  return null
}
