// Gives every committed change its place in the order consumers follow, and writes its audit record with it.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import { changedBetween } from '../../shared/database/outbox.ts'
import type { Failpoints } from '../../shared/failpoint.ts'
import type { Logger } from '../../shared/process/logger.ts'
import type { Rights } from '../jobs/define-job.ts'
import type { WorkerMetrics } from '../jobs/metrics.ts'
import type { AuditedChange } from './audit-entry.ts'
import {
  type ChangeHead,
  HEAD_COLUMNS,
  OUTBOX_COLUMNS,
  type OutboxRow,
  outboxRow,
  type StoredOutboxRow,
} from './outbox-row.ts'
import { type Reaction, runReactions } from './reaction.ts'
import { type Question, type Rounds, secondsSince } from './rounds.ts'
import { writeAuditRecords } from './write-audit-records.ts'

export type RelayDeps = {
  /** In the role millrace_worker. */
  readonly database: Database
  /** What else follows from a change, in the relay's own transaction. */
  readonly reactions: readonly Reaction[]
  readonly failpoints: Failpoints
}

/** What the relay does across tenants, in the worker's role. */
export const RELAY_RIGHTS: Rights = {
  outbox: ['select', 'update'],
  audit_records: ['insert'],
  audit_chains: ['select', 'insert', 'update'],
  users: ['select'],
  api_keys: ['select'],
}

/** Any constant: the holder of this advisory lock is the one relay of the database. */
const RELAY_LOCK = 7_243_111
const BATCH_MAX = 500
const RETRY_MS = 2_000

/**
 * Relays one batch and returns how many changes it held; 0 when there are none, or another relay is at work. Positions,
 * audit records and jobs commit together, so a relay that dies leaves nothing half done.
 */
export async function relayBatch({ database, reactions, failpoints }: RelayDeps): Promise<number> {
  return await asSystem(database, 'outbox-relay', async tx => {
    const lock = await tx.execute<{ held: boolean }>(sql`select pg_try_advisory_xact_lock(${RELAY_LOCK}) as held`)
    if (lock.rows[0]?.held !== true) return 0
    const rows = await readReleasable(tx)
    if (rows.length === 0) return 0
    const bodies = await readBodies(tx, rows, reactions)
    const positions = await givePositions(tx, rows)
    await writeAuditRecords(
      tx,
      rows.map(row => audited(row, bodies.get(row.id))),
      positions,
    )
    await runReactions(tx, reactions, { heads: rows, bodies })
    await failpoints('relay.before-commit')
    return rows.length
  })
}

/**
 * The next rows whose order is settled. A transaction below the snapshot's xmin has ended, so no row can still appear
 * before its own. That alone is not enough: a change that waited for a row lock may belong to an older transaction than the
 * change it waited for, and would be released before it while some third transaction lies between them. So the release also
 * stops at the first row that is not yet settled. For one resource, the order of seq is then the order of commits: a later
 * change takes its seq after the earlier one has committed. The barrier is materialized, else it is found again for each row.
 */
async function readReleasable(tx: SystemTransaction): Promise<Releasable[]> {
  const result = await tx.execute<Releasable>(sql`
    with pending as materialized (
      select * from outbox where position is null order by seq limit ${BATCH_MAX}
    ), barrier as materialized (
      select min(seq) as seq from pending where xid >= pg_snapshot_xmin(pg_current_snapshot())
    )
    select ${HEAD_COLUMNS}, o.changed_fields, coalesce(o.previous_data is not null or o.former_values is not null, false) as is_update
    from pending o cross join barrier b
    where b.seq is null or o.seq < b.seq
    order by o.seq`)
  return result.rows
}

/** A change whose fields are not known (`changed_fields` null) was written before they were kept. */
type Releasable = ChangeHead & { readonly changed_fields: string[] | null; readonly is_update: boolean }

/** The resources of those changes of a batch that a reaction reads, or whose fields are not known, by id. */
async function readBodies(
  tx: SystemTransaction,
  rows: readonly Releasable[],
  reactions: readonly Reaction[],
): Promise<Map<string, OutboxRow>> {
  const wanted = rows.filter(
    ({ type, changed_fields, is_update }) =>
      (is_update && changed_fields === null) ||
      reactions.some(({ types, reads }) => reads === 'CHANGES' && types.has(type)),
  )
  if (wanted.length === 0) return new Map()
  const keys = wanted.map(({ platform_id, environment, id }) => ({ platform_id, environment, id }))
  const { rows: found } = await tx.execute<StoredOutboxRow>(sql`
    select ${OUTBOX_COLUMNS} from outbox o
    join jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as g(platform_id text, environment text, id text)
      on o.platform_id = g.platform_id and o.environment = g.environment and o.id = g.id`)
  return new Map(found.map(row => [row.id, outboxRow(row)]))
}

function audited(
  { is_update: _isUpdate, changed_fields, ...head }: Releasable,
  body: OutboxRow | undefined,
): AuditedChange {
  const fields = changed_fields ?? (body ? changedBetween(body.previous_data, body.data) : [])
  return { changed_fields: fields, ...head }
}

/** Positions rise with the order of `rows`; a failed batch leaves a gap in them, which means nothing. */
async function givePositions(tx: SystemTransaction, rows: readonly ChangeHead[]): Promise<string[]> {
  const drawn = await tx.execute<{ position: string }>(
    sql`select nextval('outbox_positions')::text as position from generate_series(1, ${rows.length})`,
  )
  const positions = drawn.rows
    .map(row => BigInt(row.position))
    .sort((a, b) => (a < b ? -1 : 1))
    .map(String)
  const given = rows.map(({ platform_id, environment, id }, index) => ({
    platform_id,
    environment,
    id,
    position: positions[index],
  }))
  await tx.execute(sql`
    update outbox o set position = g.position
    from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as g(platform_id text, environment text, id text, position bigint)
    where o.platform_id = g.platform_id and o.environment = g.environment and o.id = g.id`)
  return positions
}

/** When the oldest change that waits for its position was made. */
const OLDEST: Question = {
  by: 'relay',
  text: 'select created_at::text from outbox where position is null order by seq limit 1',
}

/** Relays until closed: at once while there is more, otherwise in every round. Closing waits for the batch at work. */
export function startOutboxRelay(
  deps: RelayDeps & {
    readonly rounds: Rounds
    readonly logger: Logger
    readonly metrics: Pick<WorkerMetrics, 'relayed' | 'relayLag'>
  },
): { close(): Promise<void> } {
  const stop = new AbortController()
  const pause = (ms: number) => sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined) // closing ends the pause
  /** Returns whether there may be more. */
  const step = async (atOnce: boolean): Promise<boolean> => {
    const oldest = await deps.rounds.ask(OLDEST, { stop: stop.signal, atOnce })
    deps.metrics.relayLag.set(secondsSince(deps.database, oldest))
    const count = oldest === null ? 0 : await relayBatch(deps)
    deps.metrics.relayed.inc(count)
    if (count > 0) deps.rounds.wake('consumers')
    return count === BATCH_MAX
  }
  const run = async (): Promise<void> => {
    let mayHaveMore = false
    while (!stop.signal.aborted) {
      try {
        mayHaveMore = await step(mayHaveMore)
      } catch (error) {
        mayHaveMore = false
        deps.logger.warn({ err: error }, 'relaying changes failed; trying again')
        await pause(RETRY_MS)
      }
    }
  }
  const running = run()
  return {
    close: async () => {
      stop.abort()
      await running
    },
  }
}
