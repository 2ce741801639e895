// Single events as ClickHouse keeps them: the one that counts of each reference, and every duplicate that reached the log.
// Reads are bounded whatever a tenant has stored: a list reaches LIST_DEPTH events, and looks at recent time first.
import { eventHash } from '../../shared/contracts/usage-event.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { type Instant, instantOf } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import {
  type Beyond,
  beyondSql,
  type EventPosition,
  type LogPlace,
  NEWEST_FIRST,
  OLDEST_FIRST,
} from './event-cursor.ts'
import { byCustomer, instantSql, tenantFilter, type UsageFilter } from './usage-sql.ts'

/** How many events, newest first, a list reaches. What lies deeper is found with a narrower filter. */
export const LIST_DEPTH = 10_000
/** Events read whole in one query: their ids travel in the address of the request, which servers bound. */
const READ_MAX = 100
/** A statement that takes longer is given up; the caller is told to narrow it. */
const EXECUTION_SECONDS_MAX = 20
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Parts of the table that hold only older time are not opened until the time before has too few events. */
const WINDOWS_MS = [HOUR_MS, 2 * DAY_MS, 60 * DAY_MS]

/** What decides whether an event is billed, and where it is. */
export type EventKey = {
  readonly idHash: string
  readonly customerKey: string
  readonly meterReference: string
  /** Which subscription it asks for, as `subscriptionKey` writes it; '' for none. */
  readonly subscription: string
  readonly properties: Readonly<Record<string, string>>
  readonly timestamp: Instant
  readonly receivedAt: Instant
  readonly place: LogPlace
  readonly duplicate: boolean
}

export type EventValue = { readonly reference: string; readonly quantity: string; readonly currency: string }
export type StoredEvent = EventKey & {
  readonly reference: string
  readonly values: readonly EventValue[]
  readonly deleted: boolean
  /** Whether a duplicate says something else than the event that counts. */
  readonly contentDiffers: boolean
}

export type EventFilter = {
  readonly customerKeys?: readonly string[] | undefined
  readonly meterReference?: string | undefined
  readonly reference?: string | undefined
  readonly deleted?: boolean | undefined
  /** Only duplicates, or none of them. */
  readonly duplicate?: boolean | undefined
  readonly from?: Instant | undefined
  readonly before?: Instant | undefined
}

/** The columns of a key. */
export type KeyRow = [
  idHash: string,
  customerKey: string,
  meterReference: string,
  subscription: string,
  properties: Record<string, string>,
  timestamp: string,
  receivedAt: string,
  partition: number,
  seq: string,
  line: number,
  duplicate: number,
]
export const KEY_COLUMNS = `toString(id_hash), customer_key, meter_reference, subscription, properties, toUnixTimestamp64Milli(timestamp),
  toUnixTimestamp64Milli(received_at), log_partition, log_seq, log_line`

type Content = [
  reference: string,
  valueReferences: string[],
  quantities: string[],
  currencies: string[],
  deleted: number,
  contentDiffers: number,
]
type EventRow = [...key: KeyRow, ...content: Content]
const CONTENT_COLUMNS = 'reference, value_references, value_quantities, value_currencies'

/** The tables' keys hold the time and the id, so both may be filtered on before versions of a row are put together. */
const SETTINGS = `SETTINGS do_not_merge_across_partitions_select_final = 1, use_skip_indexes_if_final = 1,
  max_execution_time = ${EXECUTION_SECONDS_MAX}`

/** The event that counts for this id, deleted or not; null when the tenant has none. */
export async function findStoredEvent(
  client: ClickHouseClient,
  tenant: Tenant,
  idHash: string,
): Promise<StoredEvent | null> {
  const filter = tenantFilter(tenant)
  // The newest version of the row is picked here; FINAL would open every part of the tenant.
  const rows = await selectRows<EventRow>(
    client,
    `SELECT ${KEY_COLUMNS}, 0, ${CONTENT_COLUMNS}, deleted, 0 FROM usage_events
     WHERE ${filter.scope} AND id_hash = ${filter.bind(idHash, 'String')} ORDER BY version DESC LIMIT 1`,
    filter.params,
  )
  return rows.map(eventOf)[0] ?? null
}

/** When the event, or its deletion, was stored last; null when that is not known or the tenant has no such event. */
export async function readStoredAt(client: ClickHouseClient, tenant: Tenant, idHash: string): Promise<Instant | null> {
  const filter = tenantFilter(tenant)
  const rows = await selectRows<[string]>(
    client,
    `SELECT toUnixTimestamp64Milli(stored_at) FROM usage_events
     WHERE ${filter.scope} AND id_hash = ${filter.bind(idHash, 'String')} ORDER BY version DESC, stored_at LIMIT 1`,
    filter.params,
  )
  const at = Number(rows[0]?.[0] ?? 0)
  return at === 0 ? null : instantOf(at)
}

/** A page of the records that match, newest first; `total` counts no further than LIST_DEPTH. */
export async function listStoredEvents(
  client: ClickHouseClient,
  tenant: Tenant,
  query: { readonly filter: EventFilter; readonly now: Instant; readonly limit: number; readonly offset: number },
): Promise<{ keys: EventKey[]; total: number }> {
  const { limit, offset } = query
  for (const filter of widening(query.filter, query.now)) {
    const total = await countUpTo(client, tenant, filter)
    if (total < LIST_DEPTH && filter.from !== query.filter.from) continue
    const keys = offset >= total ? [] : await readKeys(client, tenant, { filter, limit, offset })
    return { keys, total }
  }
  throw new Error('the last window is the whole time')
}

/** The same filter over ever more time, the last one over all of what it asks. A reference or a customer needs no windows. */
function* widening(filter: EventFilter, now: Instant): Generator<EventFilter> {
  const end = Math.min(filter.before ?? Number.POSITIVE_INFINITY, now)
  const narrow = filter.reference !== undefined || filter.customerKeys !== undefined
  for (const length of narrow ? [] : WINDOWS_MS) {
    if (end - length > (filter.from ?? 0)) yield { ...filter, from: instantOf(end - length) }
  }
  yield filter
}

/**
 * At most `limit` of the records that match on one side of a position, the nearest first. Nearer time is looked through first, so
 * that going on through a long list costs the same everywhere.
 */
export async function readBeyond(
  client: ClickHouseClient,
  tenant: Tenant,
  query: {
    readonly filter: EventFilter
    readonly position: EventPosition
    readonly side: Beyond['side']
    readonly limit: number
  },
): Promise<EventKey[]> {
  const { filter, position, side, limit } = query
  const narrow = filter.reference !== undefined || filter.customerKeys !== undefined
  for (const length of [...(narrow ? [] : WINDOWS_MS), undefined]) {
    const until =
      length === undefined ? undefined : instantOf(position.timestamp + (side === 'OLDER' ? -length : length))
    const keys = await readKeys(client, tenant, { filter, limit, offset: 0, beyond: { side, position, until } })
    if (keys.length === limit || until === undefined) return keys
  }
  throw new Error('the last window is the whole time')
}

async function countUpTo(client: ClickHouseClient, tenant: Tenant, events: EventFilter): Promise<number> {
  const filter = tenantFilter(tenant)
  const sources = sourcesOf(filter, tenant, events).map(
    ({ from }) => `(SELECT 1 AS found FROM ${from} LIMIT ${LIST_DEPTH})`,
  )
  const rows = await selectRows<[string]>(
    client,
    `SELECT least(count(), ${LIST_DEPTH}) FROM (${sources.join(' UNION ALL ')}) ${SETTINGS}`,
    filter.params,
  )
  return Number(rows[0]?.[0] ?? 0)
}

async function readKeys(
  client: ClickHouseClient,
  tenant: Tenant,
  page: { readonly filter: EventFilter; readonly limit: number; readonly offset: number; readonly beyond?: Beyond },
): Promise<EventKey[]> {
  const filter = tenantFilter(tenant)
  const order = page.beyond?.side === 'NEWER' ? OLDEST_FIRST : NEWEST_FIRST
  const beyond = page.beyond ? ` AND ${beyondSql(filter, page.beyond)}` : ''
  const limit = filter.bind(page.limit, 'UInt32')
  const offset = filter.bind(page.offset, 'UInt32')
  const reach = filter.bind(page.limit + page.offset, 'UInt32')
  const sources = sourcesOf(filter, tenant, page.filter).map(
    ({ from, duplicate }) =>
      `(SELECT id_hash, customer_key, meter_reference, subscription, properties, timestamp, received_at, log_partition, log_seq, log_line,
          ${duplicate} AS duplicate FROM ${from}${beyond} ORDER BY ${order} LIMIT ${reach})`,
  )
  const rows = await selectRows<KeyRow>(
    client,
    `SELECT ${KEY_COLUMNS}, duplicate FROM (${sources.join(' UNION ALL ')})
     ORDER BY ${order} LIMIT ${limit} OFFSET ${offset} ${SETTINGS}`,
    filter.params,
  )
  return rows.map(keyOf)
}

/** The tables a filter asks, each with its conditions. No deletion names a duplicate, so none of them is deleted. */
function sourcesOf(filter: UsageFilter, tenant: Tenant, events: EventFilter): { from: string; duplicate: 0 | 1 }[] {
  const { customerKeys, meterReference, reference, deleted, duplicate, from, before } = events
  const { platformId, environment } = tenant
  const where = [
    filter.scope,
    ...(customerKeys ? [byCustomer(filter, customerKeys)] : []),
    ...(meterReference === undefined ? [] : [`meter_reference = ${filter.bind(meterReference, 'String')}`]),
    ...(reference === undefined
      ? []
      : [`id_hash = ${filter.bind(eventHash(platformId, environment, reference), 'String')}`]),
    ...(from === undefined ? [] : [`timestamp >= ${instantSql(filter, from)}`]),
    ...(before === undefined ? [] : [`timestamp < ${instantSql(filter, before)}`]),
  ].join(' AND ')
  const state = deleted === undefined ? '' : ` AND deleted = ${deleted ? 1 : 0}`
  const none = (wanted: boolean): string => (wanted ? '' : ' AND 0')
  return [
    { from: `usage_events FINAL WHERE ${where}${state}${none(duplicate !== true)}`, duplicate: 0 },
    { from: `usage_duplicates FINAL WHERE ${where}${none(duplicate !== false && deleted !== true)}`, duplicate: 1 },
  ]
}

/** The records at these places, whole, in this order. A record that is gone is left out. */
export async function readStoredEvents(
  client: ClickHouseClient,
  tenant: Tenant,
  keys: readonly EventKey[],
): Promise<StoredEvent[]> {
  if (keys.length > READ_MAX) throw new RangeError(`at most ${READ_MAX} events are read at once, not ${keys.length}`)
  if (keys.length === 0) return []
  const [events, duplicates] = await Promise.all([
    readTable(client, tenant, { table: 'usage_events', keys: keys.filter(key => !key.duplicate) }),
    readTable(client, tenant, { table: 'usage_duplicates', keys: keys.filter(key => key.duplicate) }),
  ])
  const byPlace = new Map([...events, ...duplicates].map(event => [placeText(event.place), event]))
  return keys.map(key => byPlace.get(placeText(key.place))).filter(event => event !== undefined)
}

async function readTable(
  client: ClickHouseClient,
  tenant: Tenant,
  of: { readonly table: 'usage_events' | 'usage_duplicates'; readonly keys: readonly EventKey[] },
): Promise<StoredEvent[]> {
  const { table, keys } = of
  if (keys.length === 0) return []
  const filter = tenantFilter(tenant)
  const times = keys.map(key => key.timestamp)
  const own = table === 'usage_events' ? '0, {content}, deleted, 0' : '1, {content}, 0, content_differs'
  const newest = table === 'usage_events' ? 'ORDER BY version DESC LIMIT 1 BY id_hash' : ''
  const rows = await selectRows<EventRow>(
    client,
    `SELECT ${KEY_COLUMNS}, ${own.replace('{content}', CONTENT_COLUMNS)} FROM ${table}
     WHERE ${filter.scope} AND timestamp >= ${instantSql(filter, instantOf(Math.min(...times)))}
       AND timestamp <= ${instantSql(filter, instantOf(Math.max(...times)))}
       AND id_hash IN ${filter.bind([...new Set(keys.map(key => key.idHash))], 'Array(String)')} ${newest}`,
    filter.params,
  )
  return rows.map(eventOf)
}

/** A record's place as text. */
export const placeText = ({ partition, seq, line }: LogPlace): string => `${partition}/${seq}/${line}`

/** A key from its columns. */
export function keyOf(row: KeyRow): EventKey {
  const [idHash, customerKey, meterReference, subscription, properties, timestamp, receivedAt, ...where] = row
  const [partition, seq, line, duplicate] = where
  return {
    idHash,
    customerKey,
    meterReference,
    subscription,
    properties,
    timestamp: instantOf(Number(timestamp)),
    receivedAt: instantOf(Number(receivedAt)),
    place: { partition, seq: Number(seq), line },
    duplicate: duplicate === 1,
  }
}

const KEY_LENGTH = 11

function eventOf(row: EventRow): StoredEvent {
  const key = row.slice(0, KEY_LENGTH) as KeyRow
  const [reference, valueReferences, quantities, currencies, deleted, differs] = row.slice(KEY_LENGTH) as Content
  return {
    ...keyOf(key),
    reference,
    values: valueReferences.map((value, place) => ({
      reference: value,
      quantity: quantities[place] ?? '0',
      currency: currencies[place] ?? '',
    })),
    deleted: deleted === 1,
    contentDiffers: differs === 1,
  }
}
