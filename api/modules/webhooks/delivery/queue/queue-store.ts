// The queues of all webhooks, in the role of the worker: taken under a lease, read, and recorded.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, stateAsSystem } from '../../../../../shared/database/database.ts'
import type { Environment } from '../../../../../shared/tenant.ts'
import { type Instant, instantOf } from '../../../../../shared/time.ts'
import type { Rights } from '../../../../jobs/define-job.ts'
import type { RelayedChange } from '../../../../workers/outbox-consumer.ts'
import { BODY_BYTES, OUTBOX_COLUMNS, outboxRow, type StoredOutboxRow } from '../../../../workers/outbox-row.ts'
import type { Question } from '../../../../workers/rounds.ts'
import type { Endpoint } from '../../request/request.ts'
import type { AttemptKind } from '../../table.ts'
import { precedesSql, selectsSql } from '../matches.ts'
import { HORIZON_MS } from '../retry-schedule.ts'
import { RUNNING_REPLAY, type RunningReplay } from '../running-replay.ts'

export const QUEUE_RIGHTS: Rights = {
  outbox: ['select'],
  webhooks: ['select'],
  webhook_queues: ['select', 'update'],
  webhook_attempts: ['select', 'insert'],
  webhook_replays: ['select', 'update'],
}

export type QueueKey = {
  readonly platform_id: string
  readonly environment: Environment
  readonly webhook_id: string
}

/** A queue that this worker holds until its lease ends. */
export type TakenQueue = QueueKey &
  Endpoint & {
    readonly fence: string
    /** Another one after every change of the webhook. */
    readonly version: string
    readonly wakes: string
    readonly position: string
    readonly failures: number
    readonly cause: string | null
    readonly active: boolean
    readonly included_actions: readonly string[]
    readonly excluded_actions: readonly string[]
    readonly include_previous_data: boolean
    /** The running replay; null when there is none. */
    readonly replay: RunningReplay | null
  }

/**
 * Longer than a turn with its last attempt takes. If the worker has not recorded the turn by then, another worker takes
 * the queue.
 */
export const LEASE_MS = 60_000

/** Whether a queue is due: finds a text if one is. */
export const anyDue = ({ isSlow }: { readonly isSlow: boolean }): Question => ({
  by: 'senders',
  text: `select 'due' from webhook_queues
    where is_slow = ${isSlow} and next_attempt_at <= $1::timestamptz and leased_until <= $1::timestamptz limit 1`,
})

/** Takes up to `limit` due queues, the longest-waiting first. Slow endpoints are taken separately from quick ones. */
export async function takeQueues(
  system: Database,
  { isSlow, limit }: { readonly isSlow: boolean; readonly limit: number },
): Promise<TakenQueue[]> {
  const now = formatExact(system.clock.now())
  const until = formatExact(instantOf(system.clock.now() + LEASE_MS))
  const taken = await asSystem(system, 'send-webhooks', tx =>
    tx.execute<TakenQueue & Record<string, unknown>>(sql`
      with due as (
        select platform_id, environment, webhook_id from webhook_queues
        where is_slow = ${isSlow} and next_attempt_at <= ${now}::timestamptz and leased_until <= ${now}::timestamptz
        order by next_attempt_at limit ${limit} for update skip locked
      )
      update webhook_queues q set leased_until = ${until}::timestamptz, fence = q.fence + 1, lease_fence = q.fence + 1
      from due join webhooks w on w.platform_id = due.platform_id and w.environment = due.environment and w.id = due.webhook_id
      left join webhook_replays r on r.platform_id = due.platform_id and r.environment = due.environment
        and r.webhook_id = due.webhook_id and r.status = 'RUNNING'
      where q.platform_id = due.platform_id and q.environment = due.environment and q.webhook_id = due.webhook_id
      returning q.platform_id, q.environment, q.webhook_id, q.fence::text as fence, w.xmin::text as version, q.wakes::text as wakes,
        q.position::text as position, q.failures, q.cause, w.active, w.included_actions, w.excluded_actions, w.include_previous_data,
        w.url, w.authentication_type, w.username, w.password_sealed, w.api_header_field, w.api_key_sealed, w.secret_sealed,
        w.previous_secret_sealed,
        to_char(w.previous_secret_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as previous_secret_until,
        ${RUNNING_REPLAY} as replay`),
  )
  return taken.rows
}

/** Whether the queue is still this worker's, and the webhook is as it was when the queue was taken. */
export async function isUnchanged(system: Database, queue: TakenQueue): Promise<boolean> {
  const found = await stateAsSystem(system, 'send-webhooks', {
    text: `select from webhook_queues q
      join webhooks w on w.platform_id = q.platform_id and w.environment = q.environment and w.id = q.webhook_id
      where q.platform_id = $1 and q.environment = $2 and q.webhook_id = $3 and q.fence = $4::bigint and w.xmin::text = $5`,
    values: [queue.platform_id, queue.environment, queue.webhook_id, queue.fence, queue.version],
  })
  return found.length > 0
}

/**
 * What waits in a queue: its next events, the position up to which there are no others, and whether nothing waits after
 * them.
 */
export type Waiting = {
  readonly events: readonly RelayedChange[]
  /** Null when matching events may lie between the last of these and any later position. */
  readonly upTo: string | null
  readonly isAll: boolean
}

/** Most events of one turn. */
export const EVENTS_MAX = 20
/** Most stored bytes of the events of one turn, packed some twenty times where they are long; the first event is read however large it is. */
export const BYTES_MAX = 500_000

/** The next events of each of `queues`, in order; events too old to be sent are left out. */
export async function readWaiting(system: Database, queues: readonly TakenQueue[]): Promise<Waiting[]> {
  const given = queues.map(
    ({ platform_id, environment, webhook_id, position, included_actions, excluded_actions }, index) => ({
      index,
      platform_id,
      environment,
      webhook_id,
      position,
      included: included_actions,
      excluded: excluded_actions,
    }),
  )
  const since = formatExact(instantOf(system.clock.now() - HORIZON_MS))
  const isSelected = selectsSql({ included: sql`q.included`, excluded: sql`q.excluded`, type: sql`o.type` })
  type Read = StoredOutboxRow & { index: number; position: string; up_to: string; candidates: number }
  const { rows } = await asSystem(system, 'send-webhooks', tx =>
    tx.execute<Read & Record<string, unknown>>(sql`
      with queues as (
        select g.*, k.active_seq, k.active_snapshot from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
          as g(index int, platform_id text, environment environment, webhook_id text, position bigint, included text[], excluded text[])
        left join webhook_queues k using (platform_id, environment, webhook_id)
      )
      select q.index, ${OUTBOX_COLUMNS}, o.position::text as position, o.candidates, last.position::text as up_to from queues q
      left join lateral (
        select max(l.position) as position from outbox l
        where l.platform_id = q.platform_id and l.environment = q.environment and l.position is not null) last on true
      left join lateral (
        select * from (
          select o.*, count(*) over ()::int as candidates,
            sum(o.bytes) over (order by o.position) - o.bytes as before
          from (
            select o.*, ${BODY_BYTES} as bytes from outbox o where o.platform_id = q.platform_id and o.environment = q.environment
              and o.position > q.position and o.created_at > ${since}::timestamptz and ${isSelected}
              and not ${precedesSql('active')}
            order by o.position limit ${EVENTS_MAX}) o) o
        where o.before < ${BYTES_MAX}) o on true
      order by q.index, o.position`),
  )
  return queues.map((queue, index) => {
    const own = rows.filter(row => row.index === index)
    const events = own
      .filter(({ id }) => id !== null)
      .map(({ index: _index, up_to: _upTo, candidates: _all, position, ...row }) => ({ ...outboxRow(row), position }))
    const candidates = own[0]?.candidates ?? 0
    const isWhole = candidates < EVENTS_MAX && candidates === events.length
    return { events, upTo: isWhole ? highest(own[0]?.up_to ?? null, queue.position) : null, isAll: isWhole }
  })
}

const highest = (a: string | null, b: string): string => (a !== null && BigInt(a) > BigInt(b) ? a : b)

export type AttemptRow = {
  readonly id: string
  readonly created_at: string
  readonly event_id: string
  readonly kind: AttemptKind
  readonly succeeded: boolean
  readonly response_code: number | null
  readonly cause: string | null
  readonly duration_ms: number
  /** For kind REPLAY: the replay, and the object of the event. */
  readonly replay_id: string | null
  readonly replayed_object_id: string | null
}

/** The outcome of a turn. */
export type TurnResult = {
  readonly queue: TakenQueue
  readonly position: string
  readonly failures: number
  readonly cause: string | null
  /** When a failed delivery is retried; null after a success. */
  readonly retryAt: Instant | null
  /** When a replay may continue, at its pace. */
  readonly notBefore: Instant | null
  /** Whether nothing is left of what waited when the queue was read. */
  readonly isDone: boolean
  /** When the event that waits now was created, as far as it is known. */
  readonly waitingSince: string | null
  readonly isSlow: boolean
  readonly attempts: readonly AttemptRow[]
}

/**
 * Records turns and releases their queues. A queue that another worker has taken meanwhile, or that was restarted, is
 * not changed; if a replay set it back, it is only released. Attempts are always stored, because they were made.
 * Changes that arrived meanwhile have raised `wakes`, which makes the queue due again at once.
 */
export async function recordTurns(system: Database, turns: readonly TurnResult[]): Promise<void> {
  const queues = turns.map(turn => {
    const { queue, position, failures, cause, retryAt, notBefore, isDone, waitingSince, isSlow, attempts: own } = turn
    const next = retryAt ?? notBefore
    return {
      platform_id: queue.platform_id,
      environment: queue.environment,
      webhook_id: queue.webhook_id,
      fence: queue.fence,
      wakes: queue.wakes,
      position,
      failures,
      cause,
      next_at: next === null ? null : formatExact(next),
      is_done: isDone,
      waiting_since: waitingSince,
      is_slow: isSlow,
      replay_id: queue.replay?.id ?? null,
      replay_sent: own.filter(({ succeeded }) => succeeded).length,
    }
  })
  const attempts = turns.flatMap(({ queue: { platform_id, environment, webhook_id }, attempts: own }) =>
    own.map(attempt => ({ platform_id, environment, webhook_id, ...attempt })),
  )
  const now = formatExact(system.clock.now())
  await asSystem(system, 'send-webhooks', async tx => {
    await tx.execute(sql`
      insert into webhook_attempts (platform_id, environment, webhook_id, id, created_at, event_id, kind, succeeded, response_code,
        cause, duration_ms, replay_id, replayed_object_id)
      select platform_id, environment, webhook_id, id, created_at, event_id, kind, succeeded, response_code, cause, duration_ms,
        replay_id, replayed_object_id
      from jsonb_to_recordset(${JSON.stringify(attempts)}::jsonb) as a(platform_id text, environment text, webhook_id text, id text,
        created_at timestamptz, event_id text, kind text, succeeded boolean, response_code int, cause text, duration_ms int,
        replay_id text, replayed_object_id text)`)
    await tx.execute(sql`
      with turns as (
        select * from jsonb_to_recordset(${JSON.stringify(queues)}::jsonb) as t(platform_id text, environment text,
          webhook_id text, fence bigint, wakes bigint, position bigint, failures int, cause text, next_at timestamptz,
          is_done boolean, waiting_since timestamptz, is_slow boolean, replay_id text, replay_sent int)
      ), held as (
        -- In one order, as those who wake queues take them: neither waits for the other in a circle.
        select q.platform_id, q.environment, q.webhook_id from webhook_queues q
        join turns t using (platform_id, environment, webhook_id)
        order by q.platform_id, q.environment, q.webhook_id for update of q
      ), recorded as (
      update webhook_queues q set position = t.position, failures = t.failures, cause = t.cause, is_slow = t.is_slow,
        leased_until = '-infinity',
        next_attempt_at = case when t.is_done and q.wakes = t.wakes then null else coalesce(t.next_at, ${now}::timestamptz) end,
        waiting_since = case when t.is_done and q.wakes = t.wakes then null else coalesce(t.waiting_since, q.waiting_since) end
      from turns t join held using (platform_id, environment, webhook_id)
      where q.platform_id = t.platform_id and q.environment = t.environment and q.webhook_id = t.webhook_id and q.fence = t.fence
      returning t.platform_id, t.environment, t.replay_id, t.replay_sent, t.position
      ), released as (
      update webhook_queues q set leased_until = '-infinity'
      from turns t join held using (platform_id, environment, webhook_id)
      where q.platform_id = t.platform_id and q.environment = t.environment and q.webhook_id = t.webhook_id and q.fence <> t.fence
        and q.lease_fence = t.fence)
      update webhook_replays r set events_sent = r.events_sent + d.replay_sent,
        status = case when d.position >= r.to_position then 'COMPLETED' else r.status end,
        finished_at = case when d.position >= r.to_position then ${now}::timestamptz end
      from recorded d where r.platform_id = d.platform_id and r.environment = d.environment and r.id = d.replay_id
        and r.status = 'RUNNING'`)
  })
}

/** To the millisecond, the precision at which queues are due. */
export const formatExact = (at: Instant): string => new Date(at).toISOString()
