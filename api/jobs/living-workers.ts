// Jobs of workers that died. The queue keeps the job of a killed worker locked for hours. So each worker holds a lock of its session, which
// PostgreSQL lets go when the connection ends, and looks for jobs in the hands of workers that hold none: those go back to the queue.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import type pg from 'pg'
import { closableClients } from '../../shared/database/connection/closable-clients.ts'
import type { SystemTransaction } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/process/logger.ts'

export type LivingWorkers = {
  /** A runner of this process, by the name under which it locks jobs. */
  add(name: string): void
  /** Of a runner that has ended. A job that it still has goes back to the queue. */
  remove(name: string): void
  close(): Promise<void>
}

/** Any constant: half of each lock; the other half is the worker. */
const LOCKS = 7_243_113
const CHECK_MS = 2_000
/** A worker that lost its connection, or whose PostgreSQL started again, has its lock back sooner. One that is merely slow keeps it. */
const GRACE_MS = 4_000
const RETRY_MS = 500
const ANSWER_MS = 10_000
/** Of what is asked when the worker stops. */
const LAST_ANSWER_MS = 2_000
/** So that PostgreSQL notices within some ten seconds that the machine of a worker is gone. */
const KEEPALIVE = 'set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3'

/**
 * Holds the locks of this process's workers, and gives back what dead ones had in hand. Starts again when its connection is lost.
 * A new worker of this process has its lock at once. `checkMs`: the pause between two checks of all workers.
 */
export function watchWorkers(databaseUrl: string, logger: Logger, { checkMs = CHECK_MS } = {}): LivingWorkers {
  const own = new Set<string>()
  /** Whether a worker was added or removed since the last check began. */
  let hasChanged = false
  const closing = new AbortController()
  let wake = (): void => undefined
  let cut = (): void => undefined
  const pause = async (ms: number): Promise<void> => {
    const woken = new Promise<void>(resolve => {
      wake = resolve
    })
    await Promise.race([sleep(ms, undefined, { signal: closing.signal }).catch(() => undefined), woken]) // closing ends the pause
  }
  const watched = (async () => {
    while (!closing.signal.aborted) {
      const { Client, cutAll, closeAll } = closableClients()
      cut = cutAll
      const client = new Client({
        connectionString: databaseUrl,
        connectionTimeoutMillis: ANSWER_MS,
        query_timeout: ANSWER_MS,
        application_name: 'millrace-living-workers',
      })
      client.on('error', () => undefined) // the query that follows fails
      try {
        await client.connect()
        await client.query(KEEPALIVE)
        const watch = new Watch(client, own, logger)
        while (!closing.signal.aborted) {
          hasChanged = false
          await watch.check()
          if (!hasChanged) await pause(checkMs)
        }
        await closeAll(client.end())
      } catch (error) {
        if (!closing.signal.aborted)
          logger.warn({ err: error }, 'the connection that shows which workers live was lost; it is opened again')
        await pause(RETRY_MS)
      } finally {
        cutAll()
      }
    }
  })()
  return {
    add: name => {
      own.add(name)
      hasChanged = true
      wake()
    },
    remove: name => {
      own.delete(name)
      hasChanged = true
      wake()
    },
    close: async () => {
      closing.abort()
      // A server that hangs answers no more.
      const timer = setTimeout(() => cut(), LAST_ANSWER_MS)
      await watched
      clearTimeout(timer)
    },
  }
}

/** How many worker processes there are: each holds the locks of its runners on one connection. At least one, which asks. */
export async function countLivingWorkers(tx: SystemTransaction): Promise<number> {
  const { rows } = await tx.execute<{ workers: number }>(sql`
    select count(distinct pid)::int as workers from pg_locks
    where locktype = 'advisory' and objsubid = 2 and classid::bigint = ${LOCKS} and granted
      and database = (select oid from pg_database where datname = current_database())`)
  return Math.max(1, rows[0]?.workers ?? 0)
}

/** One connection: the locks that it holds, and the workers that it has seen without one. */
class Watch {
  private readonly held = new Set<string>()
  /** Since when. */
  private readonly missed = new Map<string, number>()
  private readonly client: pg.Client
  private readonly own: ReadonlySet<string>
  private readonly logger: Logger
  constructor(client: pg.Client, own: ReadonlySet<string>, logger: Logger) {
    this.client = client
    this.own = own
    this.logger = logger
  }

  async check(): Promise<void> {
    await this.hold()
    const missing = await this.missing()
    for (const id of this.missed.keys()) if (!missing.includes(id)) this.missed.delete(id)
    const now = performance.now()
    for (const id of missing) if (!this.missed.has(id)) this.missed.set(id, now)
    const dead = missing.filter(id => now - (this.missed.get(id) ?? now) >= GRACE_MS)
    if (dead.length > 0) await this.giveBack(dead)
  }

  /** Shared, so that no one waits for it. */
  private async hold(): Promise<void> {
    for (const id of [...this.own].filter(each => !this.held.has(each))) {
      await this.client.query('select pg_advisory_lock_shared($1, hashtext($2))', [LOCKS, id])
      this.held.add(id)
    }
    for (const id of [...this.held].filter(each => !this.own.has(each))) {
      await this.client.query('select pg_advisory_unlock_shared($1, hashtext($2))', [LOCKS, id])
      this.held.delete(id)
    }
  }

  /** The workers that have jobs in hand and hold no lock. */
  private async missing(): Promise<string[]> {
    const { rows: working } = await this.client.query<{ id: string }>(
      'select distinct locked_by as id from graphile_worker.jobs where locked_by is not null and locked_by <> all($1)',
      [[...this.held]],
    )
    if (working.length === 0) return []
    const { rows } = await this.client.query<{ id: string }>(
      `select w.id from unnest($2::text[]) as w (id)
       where not exists (select from pg_locks l
         where l.locktype = 'advisory' and l.objsubid = 2 and l.classid::bigint = $1
           and l.objid::bigint = (hashtext(w.id)::bigint & 4294967295)
           and l.database = (select oid from pg_database where datname = current_database()))`,
      [LOCKS, working.map(({ id }) => id)],
    )
    return rows.map(({ id }) => id)
  }

  /** After a pause as of a job that failed, so that one that kills its worker does not do so all the time. */
  private async giveBack(dead: readonly string[]): Promise<void> {
    await this.client.query('begin')
    const { rows } = await this.client.query<{ id: string; job: string; attempts: number }>(
      'select id, task_identifier as job, attempts from graphile_worker.jobs where locked_by = any($1)',
      [dead],
    )
    await this.client.query('select graphile_worker.force_unlock_workers($1)', [dead])
    for (const { id, attempts } of rows)
      await this.client.query(
        `select from graphile_worker.reschedule_jobs(array[$1::bigint], now() + exp(least($2::int, 10)) * interval '1 second')`,
        [id, attempts],
      )
    await this.client.query('commit')
    this.logger.warn(
      { workers: dead, jobs: rows.map(({ job }) => job) },
      'jobs of workers that died are in the queue again',
    )
  }
}
