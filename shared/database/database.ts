// The doors to PostgreSQL. The connections stay in this folder: a query runs inside a tenant's transaction, or in one of the
// named system jobs. Row-level security is the second net, not the filter; queries carry their own tenant conditions.
import pg from 'pg'
import { untilAnswers } from '../process/until-answers.ts'
import type { Tenant } from '../tenant.ts'
import type { Instant } from '../time.ts'
import { type Database, onClient, openPool, type PoolOptions, poolOf } from './connection/pool.ts'
import { refuseUnsafeLogin } from './connection/safe-login.ts'
import { isOutdatedPlan, isUnavailable, mapDriverError } from './driver-errors.ts'
import { readTogether } from './statements/read-together.ts'
import {
  BEGIN_SNAPSHOT,
  runAlone,
  runStatement,
  runTransaction,
  type Start,
  type Statement,
  type Transaction,
} from './transaction.ts'

export { DATABASE_ROLES, type Database, type DatabaseRole, withContext } from './connection/pool.ts'

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

/** The service itself acts: a job, or what follows from a change. */
export const SERVICE: Actor = { id: null, requestId: null }

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

/**
 * Connects as `role`, and waits half a minute for a server that is starting. Throws when the login is another one, or could
 * become more than that role.
 */
export async function openDatabase(options: PoolOptions): Promise<Database> {
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
export const openAsOwner = (options: PoolOptions): Database => openPool(options, `-c role=${options.role} `)

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
    transact(database, { begin: `begin;${entering(tenant)}`, isNamed: true }, tx =>
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
      const mayWork = (code !== null && RETRYABLE.has(code)) || isOutdatedPlan(error)
      if (!mayWork || attempt >= RETRIES_MAX) throw mapDriverError(error)
      await new Promise(resolve => setTimeout(resolve, Math.random() * 20 * 2 ** attempt))
    }
  }
}

/** Runs `work` in one read-only snapshot of `tenant`; without an actor as the service itself, which may see everything. */
export async function readTenant<T>(
  database: Database,
  tenant: Tenant,
  work: (uow: ReadUow) => Promise<T>,
  actor: Actor = SERVICE,
): Promise<T> {
  try {
    return await transact(database, { begin: `${BEGIN_SNAPSHOT};${entering(tenant)}`, readOnly: true }, tx =>
      work({ tx, tenant, actor, now: database.clock.now(), context: database.context }),
    )
  } catch (error) {
    throw mapDriverError(error)
  }
}

/** As `readTenant`, for work that asks all that it asks before it waits for an answer: in one message there, and one back. */
export async function readTenantAtOnce<T>(
  database: Database,
  tenant: Tenant,
  work: (uow: ReadUow) => Promise<T>,
  actor: Actor = SERVICE,
): Promise<T> {
  const read = (tx: Transaction): Promise<T> =>
    work({ tx, tenant, actor, now: database.clock.now(), context: database.context })
  try {
    return await onClient(database, (client, onLost) => readTogether(client, { tenant, work: read }, onLost))
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
  refuseApiRole(database)
  return await transact(database, settings ? { begin: BEGIN_SNAPSHOT, readOnly: true } : { begin: 'begin' }, work)
}

/**
 * Runs one statement of a named system job, across tenants, and returns its rows; it commits by itself. For what is asked several times a
 * second, nearly always in vain: a transaction around it would be most of what it costs.
 */
export async function stateAsSystem<Row extends pg.QueryResultRow>(
  database: Database,
  _job: string,
  statement: Statement,
): Promise<Row[]> {
  refuseApiRole(database)
  return await onClient(database, client => runAlone<Row>(client, statement))
}

function refuseApiRole({ role }: Database): void {
  if (role === 'millrace_app') throw new Error('the api role runs no system jobs')
}

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
