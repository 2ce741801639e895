// Those who follow the outbox at their own pace: each has a cursor of its own, and reads changes in the order of their positions.
import { setTimeout as sleep } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import pg from 'pg'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import type { Failpoints } from '../../shared/failpoint.ts'
import type { Logger } from '../../shared/process/logger.ts'
import type { Rights } from '../jobs/define-job.ts'
import type { WorkerMetrics } from '../jobs/metrics.ts'
import {
  type ChangeHead,
  HEAD_COLUMNS,
  OUTBOX_COLUMNS,
  type OutboxRow,
  outboxRow,
  type StoredOutboxRow,
} from './outbox-row.ts'
import { type Question, type Rounds, secondsSince } from './rounds.ts'

/** A change with its place in the order. Positions rise and have gaps. */
export type RelayedChange = OutboxRow & { readonly position: string }

type Following = {
  /** Of its cursor. A consumer of another name begins anew. */
  readonly name: string
  /** The types of changes it gets, in the order of their commits. */
  readonly types: readonly string[] | 'ALL'
  /** Where it begins in a database that does not know it: with the oldest change that is kept, or with the next that is made. */
  readonly startsAt: 'OLDEST' | 'NEXT'
  /** What `handle` does to which tables, in the worker's own role. */
  readonly rights: Rights
}

/**
 * Writes what follows from a batch. It commits together with the cursor, so what it writes is written once, whatever dies when. A
 * batch that throws comes again, and holds up this consumer alone.
 */
type Handle<Change> = (tx: SystemTransaction, changes: readonly Change[]) => Promise<void>

/** One that needs the resources. */
export type ConsumerOfChanges = Following & { readonly reads: 'CHANGES'; readonly handle: Handle<RelayedChange> }

/** One to which only matters what was changed: the resources of a batch may be many megabytes, and are not read. */
export type ConsumerOfHeads = Following & {
  readonly reads: 'HEADS'
  readonly handle: Handle<ChangeHead & { readonly position: string }>
}

export type OutboxConsumer = ConsumerOfChanges | ConsumerOfHeads

/** What following takes of the worker's own role, besides what a consumer declares. */
export const CONSUMER_RIGHTS: Rights = { outbox: ['select'], outbox_consumers: ['select', 'insert', 'update'] }

/** Changes carry whole resources: one batch must fit into memory and into one statement's time. */
const BATCH_MAX = 500
const RETRY_MS = 2_000

/** Gives the consumer its cursor where it has none. */
export async function registerConsumer(database: Database, { name, startsAt }: OutboxConsumer): Promise<void> {
  const first = startsAt === 'OLDEST' ? sql`0` : sql`(select coalesce(max(position), 0) from outbox)`
  await asSystem(database, 'outbox-consumer', tx =>
    tx.execute(sql`insert into outbox_consumers (name, position) values (${name}, ${first}) on conflict do nothing`),
  )
}

/**
 * Has `consumer` read one batch. True when there may be more; false when there is none, or another worker is at it. No change is
 * skipped that commits late: a change has its position only when every earlier one has (outbox-relay.ts).
 */
export async function consumeBatch(
  { database, failpoints }: { readonly database: Database; readonly failpoints: Failpoints },
  consumer: OutboxConsumer,
): Promise<boolean> {
  return await asSystem(database, 'outbox-consumer', async tx => {
    const cursor = await tx.execute<{ position: string }>(
      sql`select position::text as position from outbox_consumers where name = ${consumer.name} for update skip locked`,
    )
    const after = cursor.rows[0]?.position
    if (after === undefined) return false
    const upTo = await endOfBatch(tx, after)
    if (upTo === null) return false
    const batch = { after, upTo, types: consumer.types }
    if (consumer.reads === 'HEADS') await handleAny(tx, await readHeads(tx, batch), consumer.handle)
    else await handleAny(tx, await readChanges(tx, batch), consumer.handle)
    await tx.execute(
      sql`update outbox_consumers set position = ${upTo}::bigint, updated_at = clock_timestamp() where name = ${consumer.name}`,
    )
    await failpoints('consumer.before-commit')
    return true
  })
}

async function handleAny<Change>(
  tx: SystemTransaction,
  changes: readonly Change[],
  handle: Handle<Change>,
): Promise<void> {
  if (changes.length > 0) await handle(tx, changes)
}

/** The position of the last change of the next batch; null when there is none. */
async function endOfBatch(tx: SystemTransaction, after: string): Promise<string | null> {
  const last = await tx.execute<{ position: string | null }>(sql`
    select max(position)::text as position from (
      select position from outbox where position > ${after}::bigint order by position limit ${BATCH_MAX}) batch`)
  return last.rows[0]?.position ?? null
}

type Batch = { readonly after: string; readonly upTo: string; readonly types: OutboxConsumer['types'] }

const inBatch = ({ after, upTo, types }: Batch): SQL =>
  sql`o.position > ${after}::bigint and o.position <= ${upTo}::bigint ${
    types === 'ALL' ? sql`` : sql`and o.type in (select jsonb_array_elements_text(${JSON.stringify(types)}::jsonb))`
  }`

async function readHeads(tx: SystemTransaction, batch: Batch): Promise<(ChangeHead & { position: string })[]> {
  const { rows } = await tx.execute<ChangeHead & { position: string }>(sql`
    select ${HEAD_COLUMNS}, o.position::text as position from outbox o where ${inBatch(batch)} order by o.position`)
  return rows
}

async function readChanges(tx: SystemTransaction, batch: Batch): Promise<RelayedChange[]> {
  const { rows } = await tx.execute<StoredOutboxRow & { position: string }>(sql`
    select ${OUTBOX_COLUMNS}, o.position::text as position from outbox o where ${inBatch(batch)} order by o.position`)
  return rows.map(({ position, ...row }) => ({ ...outboxRow(row), position }))
}

/** When the oldest relayed change that the consumer has not read was made. */
const oldestUnread = (name: string): Question => ({
  by: 'consumers',
  text: `select (select o.created_at from outbox o where o.position > c.position order by o.position limit 1)::text
    from outbox_consumers c where c.name = ${pg.escapeLiteral(name)}`,
})

type ConsumersDeps = {
  /** In the role millrace_worker. */
  readonly database: Database
  readonly rounds: Rounds
  readonly failpoints: Failpoints
  readonly logger: Logger
  readonly metrics: Pick<WorkerMetrics, 'consumerLag'>
}

/** Has every consumer follow, each by itself, until closed. Closing waits for the batches at work. */
export function startOutboxConsumers(
  consumers: readonly OutboxConsumer[],
  deps: ConsumersDeps,
): { close(): Promise<void> } {
  const stop = new AbortController()
  const running = consumers.map(consumer => follow(consumer, deps, stop.signal))
  return {
    close: async () => {
      stop.abort()
      await Promise.all(running)
    },
  }
}

async function follow(consumer: OutboxConsumer, deps: ConsumersDeps, stop: AbortSignal): Promise<void> {
  const { name } = consumer
  const pause = (ms: number) => sleep(ms, undefined, { signal: stop }).catch(() => undefined) // closing ends the pause
  const question = oldestUnread(name)
  let isRegistered = false
  let mayHaveMore = false
  while (!stop.aborted) {
    try {
      if (!isRegistered) await registerConsumer(deps.database, consumer)
      isRegistered = true
      // Before the batch, so that one that fails still says how far behind it is.
      const oldest = await deps.rounds.ask(question, { stop, atOnce: mayHaveMore })
      deps.metrics.consumerLag.set({ consumer: name }, secondsSince(deps.database, oldest))
      mayHaveMore = oldest !== null && (await consumeBatch(deps, consumer))
      if (mayHaveMore) deps.rounds.wake('senders')
    } catch (error) {
      mayHaveMore = false
      deps.logger.warn({ err: error, consumer: name }, 'a consumer of the outbox failed; it tries again')
      await pause(RETRY_MS)
    }
  }
}
