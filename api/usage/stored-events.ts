// Single events as ClickHouse keeps them: the one that counts of each reference, and every duplicate that reached the log.
import type { Tenant } from '../../shared/tenant.ts'
import { type Instant, instantOf } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import type { LogPlace } from './event-cursor.ts'
import { instantSql, tenantFilter } from './usage-sql.ts'

/** Events read whole in one query: their ids travel in the address of the request, which servers bound. */
const READ_MAX = 100

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

/** The records of these keys, whole, in this order. A record that is gone is left out. */
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
  return keys.flatMap(key => {
    const row = (key.duplicate ? duplicates : events).get(recordName(key))
    return row ? [storedOf({ ...key, properties: row[4] }, row.slice(ROW_START) as Content)] : []
  })
}

/** Of one event there is one row, of one of its duplicates one at each place. */
const recordName = ({ idHash, place, duplicate }: Pick<EventKey, 'idHash' | 'place' | 'duplicate'>): string =>
  duplicate ? `${idHash} ${placeText(place)}` : idHash

/** What a key does not have, and what may change: the rest is read from as many places as there are events, at a price a column. */
type ChangingRow = [
  idHash: string,
  partition: number,
  seq: string,
  line: number,
  properties: Record<string, string>,
  ...content: Content,
]
const ROW_START = 5

async function readTable(
  client: ClickHouseClient,
  tenant: Tenant,
  of: { readonly table: 'usage_events' | 'usage_duplicates'; readonly keys: readonly EventKey[] },
): Promise<Map<string, ChangingRow>> {
  const { table, keys } = of
  if (keys.length === 0) return new Map()
  const filter = tenantFilter(tenant)
  const times = keys.map(key => key.timestamp)
  const among = (column: string, of: (key: EventKey) => string): string =>
    `${column} IN ${filter.bind([...new Set(keys.map(of))], 'Array(String)')}`
  const isEvent = table === 'usage_events'
  const place = isEvent ? `0, '0', 0` : 'log_partition, log_seq, log_line'
  const state = isEvent ? 'deleted, 0' : '0, content_differs'
  const rows = await selectRows<ChangingRow>(
    client,
    `SELECT toString(id_hash), ${place}, properties, ${CONTENT_COLUMNS}, ${state} FROM ${table}
     WHERE ${filter.scope} AND ${among('customer_key', key => key.customerKey)} AND ${among('meter_reference', key => key.meterReference)}
       AND timestamp >= ${instantSql(filter, instantOf(Math.min(...times)))}
       AND timestamp <= ${instantSql(filter, instantOf(Math.max(...times)))}
       AND ${among('id_hash', key => key.idHash)} ${isEvent ? 'ORDER BY version DESC LIMIT 1 BY id_hash' : ''}`,
    filter.params,
    // So few rows are read with less work by one thread than shared out.
    { max_threads: '1' },
  )
  return new Map(
    rows.map(row => {
      const [idHash, partition, seq, line] = row
      return [recordName({ idHash, place: { partition, seq: Number(seq), line }, duplicate: !isEvent }), row]
    }),
  )
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

const eventOf = (row: EventRow): StoredEvent =>
  storedOf(keyOf(row.slice(0, KEY_LENGTH) as KeyRow), row.slice(KEY_LENGTH) as Content)

function storedOf(key: EventKey, content: Content): StoredEvent {
  const [reference, valueReferences, quantities, currencies, deleted, differs] = content
  return {
    ...key,
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
