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
  const among = (column: string, names: readonly string[]): string =>
    `${column} IN ${filter.bind([...new Set(names)], 'Array(String)')}`
  const own = table === 'usage_events' ? '0, {content}, deleted, 0' : '1, {content}, 0, content_differs'
  const newest = table === 'usage_events' ? 'ORDER BY version DESC LIMIT 1 BY id_hash' : ''
  const rows = await selectRows<EventRow>(
    client,
    `SELECT ${KEY_COLUMNS}, ${own.replace('{content}', CONTENT_COLUMNS)} FROM ${table}
     WHERE ${filter.scope}
       AND ${among(
         'customer_key',
         keys.map(key => key.customerKey),
       )}
       AND ${among(
         'meter_reference',
         keys.map(key => key.meterReference),
       )}
       AND timestamp >= ${instantSql(filter, instantOf(Math.min(...times)))}
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
