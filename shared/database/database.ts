// The doors to PostgreSQL. The pool itself is never exported: a query runs inside a tenant's transaction, or in one of the
// named system jobs. Row-level security is the second net, not the filter; queries carry their own tenant conditions.
import { sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import type { Logger } from '../logger.ts'
import type { Tenant } from '../tenant.ts'
import type { Clock, Instant } from '../time.ts'
import { isUnavailable, mapDriverError } from './driver-errors.ts'

/** What a process may be in the database. The roles and what each may touch are in the migrations. */
export type DatabaseRole = 'millrace_app' | 'millrace_gateway' | 'millrace_worker' | 'millrace_identity'

type Transaction = Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0]

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
}
/** A unit of work: one tenant, one transaction, everything in it commits together. */
export type Uow = ReadUow & { readonly [writable]: true }

const pools = new WeakMap<Database, pg.Pool>()

/** A handle on the database in one role; made by `openDatabase`. */
export type Database = { readonly role: DatabaseRole; readonly clock: Clock; close(): Promise<void> }

/** Connects as `role`. Throws when that role could escape row-level security. */
export async function openDatabase(options: {
  url: string
  role: DatabaseRole
  clock: Clock
  logger: Logger
  poolMax: number
}): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolMax,
    options: `-c role=${options.role} -c statement_timeout=30000 -c idle_in_transaction_session_timeout=60000`,
    connectionTimeoutMillis: 10_000,
  })
  pool.on('error', error => options.logger.warn({ err: error }, 'an idle database connection was lost'))
  const database: Database = { role: options.role, clock: options.clock, close: () => pool.end() }
  pools.set(database, pool)
  await refuseUnsafeRole(pool)
  return database
}

async function refuseUnsafeRole(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ unsafe: boolean }>(
    `select rolsuper or rolbypassrls or exists (select from pg_class where relowner = r.oid) as unsafe
     from pg_roles r where rolname = current_user`,
  )
  if (rows[0]?.unsafe !== false) throw new Error('the database role owns tables or can bypass row-level security')
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
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact(database, async tx => {
        await enter(tx, tenant)
        return await work({ tx, tenant, actor, now: database.clock.now() } as Uow)
      })
    } catch (error) {
      const code = driverCode(error)
      if (code === null || !RETRYABLE.has(code) || attempt >= RETRIES_MAX) throw mapDriverError(error)
      await new Promise(resolve => setTimeout(resolve, Math.random() * 20 * 2 ** attempt))
    }
  }
}

/** Runs `work` in one read-only snapshot of `tenant`. */
export async function readTenant<T>(
  database: Database,
  tenant: Tenant,
  work: (uow: ReadUow) => Promise<T>,
): Promise<T> {
  try {
    return await transact(
      database,
      async tx => {
        await enter(tx, tenant)
        return await work({ tx, tenant, actor: { id: null, requestId: null }, now: database.clock.now() })
      },
      { accessMode: 'read only', isolationLevel: 'repeatable read' },
    )
  } catch (error) {
    throw mapDriverError(error)
  }
}

/**
 * One transaction on a connection of its own. A connection that was lost is not given back to the pool, and always leaves it:
 * drizzle keeps one whose `begin` fails, and each of those would be missing for good.
 */
async function transact<T>(
  database: Database,
  work: (tx: Transaction) => Promise<T>,
  settings?: Parameters<NodePgDatabase['transaction']>[1],
): Promise<T> {
  const client = await poolOf(database).connect()
  let lost: Error | undefined
  // Nobody else hears of a connection that breaks between two queries; unheard, it would end the process.
  const onError = (error: Error): void => {
    lost = error
  }
  client.on('error', onError)
  try {
    return await drizzle(client).transaction(work, settings)
  } catch (error) {
    if (isUnavailable(error)) lost ??= error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    client.off('error', onError)
    client.release(lost)
  }
}

async function enter(tx: Transaction, tenant: Tenant): Promise<void> {
  await tx.execute(
    sql`select set_config('app.platform_id', ${tenant.platformId}, true), set_config('app.environment', ${tenant.environment}, true)`,
  )
}

/** The transaction of a system job. */
export type SystemTransaction = Transaction

/** The system jobs that may look across tenants. Their role's policies say at what. */
export type SystemJob =
  | 'load-api-keys'
  | 'note-key-uses'
  | 'load-meters'
  | 'load-platforms'
  | 'find-named-subscriptions'
  | 'outbox-relay'
  | 'find-due-billing'
  | 'find-lost-reprocesses'
  | 'expire-idempotency-keys'
  | 'find-files'
  | 'find-alert-rules'
  | 'identity'
  | 'load-grants'
  | 'load-memberships'
  | 'verify-audit'

/** Runs a named system job in one transaction; never as the api's role. */
export async function asSystem<T>(
  database: Database,
  _job: SystemJob,
  work: (tx: Transaction) => Promise<T>,
  settings?: Parameters<NodePgDatabase['transaction']>[1],
): Promise<T> {
  if (database.role === 'millrace_app') throw new Error('the api role runs no system jobs')
  return await transact(database, work, settings)
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
        const lost = new Promise<void>(resolve => {
          client?.once('error', () => resolve())
          client?.once('end', () => resolve())
        })
        client.on('notification', message => handlers.onMessage(message.payload ?? ''))
        await client.query(`listen ${channel}`)
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

/** Whether the database answers, for readiness: null when it does, the reason otherwise. */
export async function databaseFault(database: Database): Promise<string | null> {
  try {
    await poolOf(database).query('select 1')
    return null
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
