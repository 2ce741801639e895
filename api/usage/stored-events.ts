// Single events as ClickHouse keeps them: the one that counts of each reference, and every duplicate that reached the log.
import type { Tenant } from '../../shared/tenant.ts'
import { type Instant, instantOf } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { LINES_MAX, type LogPlace } from './event-cursor.ts'
import { tenantFilter } from './usage-sql.ts'

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

/** What a record is read as, in this order. */
export type RecordRow = [
  idHash: string,
  customerKey: string,
  meterReference: string,
  timestamp: string,
  receivedAt: string,
  deleted: number,
  repeat: string,
  content: string,
]
/** As they are: each expression over them costs a statement as much as reading it for hundreds of rows. */
export const RECORD_COLUMNS = 'id_hash, customer_key, meter_reference, timestamp, received_at, deleted, repeat, content'
/** Settings of a statement that reads records: how it writes times. */
export const RECORD_TIMES = { date_time_output_format: 'iso' } as const
const timeOf = (iso: string): Instant => instantOf(Date.parse(iso))

/** As usage_records_by_time has it: aggregator/clickhouse/migrations/0008_records_by_time.sql. */
type Content = [
  reference: string,
  subscription: string,
  valueReferences: string[],
  quantities: string[],
  currencies: string[],
  properties: Record<string, string>,
  partition: number,
  seq: string,
  line: number,
  contentDiffers: number,
]
const contentSql = (differs: string): string => `toJSONString((reference, subscription, value_references,
  arrayMap(quantity -> toString(quantity), value_quantities), value_currencies, properties, log_partition, toString(log_seq), log_line,
  ${differs})) AS content`
const EVENT_REPEAT = 'toUInt64(0) AS repeat'
const DUPLICATE_REPEAT = `log_seq * ${LINES_MAX} + log_line AS repeat`
/** What usage_records_by_time has as columns, of usage_events and of usage_duplicates. */
export const EVENT_EXTRAS = `deleted, ${EVENT_REPEAT}, ${contentSql('0')}`
export const DUPLICATE_EXTRAS = `toUInt8(0) AS deleted, ${DUPLICATE_REPEAT}, ${contentSql('content_differs')}`

/** Of one event alone: when it, or its deletion, was stored (null when that is not known), and whether it was changed since it came. */
export type FoundEvent = StoredEvent & { readonly storedAt: Instant | null; readonly changed: boolean }
/** Versions of corrections and deletions begin here (aggregator/steps/rows.ts). */
const CHANGED = `pow(2, 61)`

/** The event that counts for this id, deleted or not; null when the tenant has none. */
export async function findStoredEvent(
  client: ClickHouseClient,
  tenant: Tenant,
  idHash: string,
): Promise<FoundEvent | null> {
  const filter = tenantFilter(tenant)
  // The newest version of the row is picked here; FINAL would open every part of the tenant.
  const rows = await selectRows<[...RecordRow, storedAt: string, changed: number]>(
    client,
    `SELECT ${RECORD_COLUMNS}, toUnixTimestamp64Milli(stored_at), changed FROM (
       SELECT id_hash, customer_key, meter_reference, timestamp, received_at, stored_at, ${EVENT_EXTRAS}, version >= ${CHANGED} AS changed FROM usage_events
       WHERE ${filter.scope} AND id_hash = ${filter.bind(idHash, 'String')} ORDER BY version DESC, stored_at LIMIT 1)`,
    filter.params,
    { ...FEW_ROWS, ...RECORD_TIMES },
  )
  const [row] = rows
  if (!row) return null
  const [storedAt, changed] = [Number(row[RECORD_LENGTH]), row[RECORD_LENGTH + 1]]
  return {
    ...recordOf(row.slice(0, RECORD_LENGTH) as RecordRow),
    storedAt: storedAt === 0 ? null : instantOf(storedAt),
    changed: changed === 1,
  }
}
const RECORD_LENGTH = 8

/** Settings of a statement that reads few rows: one thread does with less work what several share out. */
export const FEW_ROWS = { max_threads: '1' } as const

/** A record from its row. */
export function recordOf(row: RecordRow): StoredEvent {
  const [idHash, customerKey, meterReference, timestamp, receivedAt, deleted, repeat, content] = row
  const [reference, subscription, valueReferences, quantities, currencies, properties, ...rest] = JSON.parse(
    content,
  ) as Content
  const [partition, seq, line, differs] = rest
  return {
    idHash,
    customerKey,
    meterReference,
    subscription,
    properties,
    timestamp: timeOf(timestamp),
    receivedAt: timeOf(receivedAt),
    place: { partition, seq: Number(seq), line },
    duplicate: repeat !== '0',
    reference,
    values: valueReferences.map((value, index) => ({
      reference: value,
      quantity: quantities[index] ?? '0',
      currency: currencies[index] ?? '',
    })),
    deleted: deleted === 1,
    contentDiffers: differs === 1,
  }
}

/** A record's place as text. */
export const placeText = ({ partition, seq, line }: LogPlace): string => `${partition}/${seq}/${line}`
