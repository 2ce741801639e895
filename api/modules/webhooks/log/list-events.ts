// The log of events in the order of their positions, which is the order of commits. An event gets its position only
// when nothing can commit before it any more (api/workers/outbox-relay.ts), so a reader who continues after the last
// event misses none.
import { type SQL, sql } from 'drizzle-orm'
import { isDeclaredEvent } from '../../../../shared/contracts/event-types.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { dateRange, listOf, pageOf } from '../../../http/pagination.ts'
import { cursorNotFound, type FeedSlice, type Sliced, sliceOf } from '../../../list/slice.ts'
import { getOne } from '../../../resource/store.ts'
import type { RelayedChange } from '../../../workers/outbox-consumer.ts'
import { BODY_BYTES, OUTBOX_COLUMNS, outboxRow, type StoredOutboxRow } from '../../../workers/outbox-row.ts'
import { textArray } from '../delivery/matches.ts'
import { webhookResource } from '../webhook.ts'
import { type DeliveryStatus, deliveryConditions, type WebhookAt, withQueues } from './deliveries.ts'

export type EventListQuery = Readonly<Record<string, string | string[] | undefined>>

/**
 * Most events that one response examines; it may then hold fewer than `limit`, and continues after the last one
 * examined.
 */
export const EXAMINED_MAX = 10_000
/** Most stored bytes of the events in one response, packed some twenty times where they are long; the first event is included however large it is. */
const BYTES_MAX = 1_000_000

type Key = { readonly id: string; readonly position: string; readonly bytes: number }
export type EventList = {
  readonly slice: FeedSlice
  readonly sliced: Sliced<{ readonly id: string }>
  readonly events: readonly RelayedChange[]
  /** The webhook that the list is limited to, if any. */
  readonly webhook: WebhookAt | null
}

/** Throws INVALID_FIELD for an invalid cursor, type or range, and RESOURCE_NOT_FOUND for an unknown webhook. */
export async function listEvents(uow: ReadUow, query: EventListQuery): Promise<EventList> {
  const slice = feedSlice(query)
  const descending = (String(query['order_direction'] ?? 'asc').toLowerCase() === 'desc') !== (slice.kind === 'BEFORE')
  const webhook = await webhookOf(uow, query)
  const filter = filterOf(uow, query, webhook)
  const bounds = await boundsOf(uow, slice, { query, descending })
  const window = windowSql(uow, bounds, descending)
  const direction = descending ? sql`desc` : sql`asc`
  const { rows } = await uow.tx.execute<Key>(sql`
    select k.id, k.position::text as position, k.bytes from (${window}) k
    where ${filter} order by k.position ${direction} limit ${slice.limit + 1}`)
  const whole = withinBytes(rows.slice(0, slice.limit))
  const isCut = whole.length < rows.length
  // Fewer than the limit: either the log ends here, or the examined window does.
  const last = isCut ? null : await lastExamined(uow, window, direction)
  const keys = slice.kind === 'BEFORE' ? whole.toReversed() : whole
  return {
    slice,
    sliced: {
      rows: last && last.id !== whole.at(-1)?.id ? onto(keys, last, slice) : keys,
      more: isCut || last !== null,
      total: null,
    },
    events: await readChanges(uow, keys),
    webhook,
  }
}

/** The event with this id. Throws RESOURCE_NOT_FOUND. */
export async function getEvent(uow: ReadUow, id: string): Promise<RelayedChange> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<Stored>(sql`
    select ${OUTBOX_COLUMNS}, o.position::text as position from outbox o
    where o.platform_id = ${platformId} and o.environment = ${environment} and o.id = ${id} and o.position is not null`)
  const [found] = rows.map(relayed)
  if (found) return found
  const message = `There is no WEBHOOK_EVENT ${JSON.stringify(id)}; events are kept for 30 days unless the operator keeps them longer.`
  throw new AppError('RESOURCE_NOT_FOUND', message, { resourceType: 'WEBHOOK_EVENT' })
}

type Stored = StoredOutboxRow & { position: string }
const relayed = ({ position, ...row }: Stored): RelayedChange => ({ ...outboxRow(row), position })

function feedSlice(query: EventListQuery): FeedSlice {
  const slice = sliceOf(query)
  if (slice.kind !== 'PAGE') return slice
  const [limit] = listOf(query['limit'])
  return { kind: 'START', limit: pageOf(limit === undefined ? {} : { limit }).limit }
}

async function webhookOf(uow: ReadUow, query: EventListQuery): Promise<WebhookAt | null> {
  const [id] = listOf(query['webhook_id'])
  if (id === undefined) {
    if (query['status'] === undefined) return null
    throw new AppError('MISSING_FIELD', 'status is of the delivery to one webhook: send webhook_id as well.', {
      field: 'webhook_id',
    })
  }
  const [found] = await withQueues(uow, [await getOne(uow, webhookResource, id)])
  return found ?? null
}

function filterOf(uow: ReadUow, query: EventListQuery, webhook: WebhookAt | null): SQL {
  const types = listOf(query['types[]'])
  const unknown = types.find(type => !isDeclaredEvent(type))
  if (unknown !== undefined) {
    const message = `There is no event type ${JSON.stringify(unknown)}; GET /v1/webhooks/actions lists them.`
    throw new AppError('INVALID_FIELD', message, { field: 'types[]' })
  }
  const { from, before } = rangeOf(query)
  const conditions = [
    ...(types.length > 0 ? [sql`k.type = any(${textArray(types)})`] : []),
    ...(from === null ? [] : [sql`k.created_at >= ${from}::timestamptz`]),
    ...(before === null ? [] : [sql`k.created_at < ${before}::timestamptz`]),
  ]
  if (webhook) {
    const { isFor, has } = deliveryConditions(uow, webhook)
    const [status] = listOf(query['status'])
    conditions.push(isFor, ...(status === undefined ? [] : [has[status as DeliveryStatus]]))
  }
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)
}

const rangeOf = (query: EventListQuery) => {
  const [range] = listOf(query['created_at'])
  return range === undefined ? { from: null, before: null } : dateRange('created_at', range)
}

type Bounds = { readonly above: string | null; readonly below: string | null }

/** Exclusive positions that enclose all requested events. */
async function boundsOf(
  uow: ReadUow,
  slice: FeedSlice,
  { query, descending }: { readonly query: EventListQuery; readonly descending: boolean },
): Promise<Bounds> {
  const { from, before } = rangeOf(query)
  const cursor = slice.kind === 'START' ? null : await positionOf(uow, slice.id)
  if (slice.kind !== 'START' && cursor === null) throw cursorNotFound(slice)
  const lower = from === null ? null : await positionAt(uow, from, 'BEFORE')
  const upper = before === null ? null : await positionAt(uow, before, 'AFTER')
  const [above, below] = descending ? [null, cursor] : [cursor, null]
  return { above: further(lower, above, 1), below: further(upper, below, -1) }
}

const further = (a: string | null, b: string | null, sign: 1 | -1): string | null => {
  if (a === null || b === null) return a ?? b
  return BigInt(a) > BigInt(b) === (sign === 1) ? a : b
}

async function positionOf(uow: ReadUow, id: string): Promise<string | null> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ position: string | null }>(sql`
    select position::text as position from outbox where platform_id = ${platformId} and environment = ${environment} and id = ${id}`)
  return rows[0]?.position ?? null
}

/**
 * A position that is certainly before, or certainly after, everything created at `time`. Times are those at which
 * transactions began, so they do not rise strictly with positions; but no transaction lasts a day.
 */
async function positionAt(uow: ReadUow, time: string, side: 'BEFORE' | 'AFTER'): Promise<string | null> {
  const { platformId, environment } = uow.tenant
  const there =
    side === 'BEFORE'
      ? sql`created_at < ${time}::timestamptz - interval '1 day' order by created_at desc`
      : sql`created_at > ${time}::timestamptz + interval '1 day' order by created_at`
  const { rows } = await uow.tx.execute<{ position: string }>(sql`
    select position::text as position from outbox
    where platform_id = ${platformId} and environment = ${environment} and position is not null and ${there} limit 1`)
  return rows[0]?.position ?? null
}

function windowSql({ tenant }: ReadUow, { above, below }: Bounds, descending: boolean): SQL {
  const [from, to] = [
    above === null ? sql`` : sql`and o.position > ${above}::bigint`,
    below === null ? sql`` : sql`and o.position < ${below}::bigint`,
  ]
  return sql`
    select o.id, o.seq, o.xid, o.position, o.type, o.created_at, ${BODY_BYTES} as bytes from outbox o
    where o.platform_id = ${tenant.platformId} and o.environment = ${tenant.environment} and o.position is not null ${from} ${to}
    order by o.position ${descending ? sql`desc` : sql`asc`} limit ${EXAMINED_MAX}`
}

function withinBytes(keys: readonly Key[]): Key[] {
  let before = 0
  return keys.filter(({ bytes }) => {
    const isWithin = before < BYTES_MAX
    before += bytes
    return isWithin
  })
}

/** The last event of a full window, where a reader continues; null when the log ends within the window. */
async function lastExamined(uow: ReadUow, window: SQL, direction: SQL): Promise<{ id: string } | null> {
  const { rows } = await uow.tx.execute<{ id: string }>(sql`
    select k.id from (${window}) k order by k.position ${direction} offset ${EXAMINED_MAX - 1} limit 1`)
  return rows[0] ?? null
}

const onto = (keys: readonly Key[], last: { id: string }, { kind }: FeedSlice) =>
  kind === 'BEFORE' ? [last, ...keys] : [...keys, last]

async function readChanges(uow: ReadUow, keys: readonly Key[]): Promise<RelayedChange[]> {
  if (keys.length === 0) return []
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<Stored>(sql`
    select ${OUTBOX_COLUMNS}, o.position::text as position from outbox o
    where o.platform_id = ${platformId} and o.environment = ${environment}
      and o.position = any(array(select jsonb_array_elements_text(${JSON.stringify(keys.map(({ position }) => position))}::jsonb)::bigint))`)
  const found = new Map(rows.map(row => [row.position, relayed(row)]))
  return keys.flatMap(({ position }) => found.get(position) ?? [])
}
