// The wire format of the usage log: what the gateway publishes, the aggregator reads, and usage_events holds.
//
// A log message is UTF-8 text. Its first line is the format version. Every further line is one record, in order; a
// record's place in the log is (stream sequence, line index), and that place alone decides which copy counts.
//   ["<id hash>","<content hash>",…]   an event: a JSON array in the order of EVENT_FIELDS
//   {"delete":"<id hash>",…}           a control record: DeleteRecord
//   {"amend":"<id hash>",…}            a control record: AmendRecord
// The hashes stand at fixed offsets, so the aggregator can decide first-seen without parsing the rest; and the array
// has the order of the leading columns of usage_events, so the aggregator appends its own columns and inserts it as is.
import { hash } from 'node:crypto'
import type { Environment } from '../tenant.ts'
import { hashContentText } from './content-hash.ts'

export const WIRE_VERSION = '1'

/** The fields of an event record, in order, and the leading columns of usage_events by the same names. */
export const EVENT_FIELDS = [
  'id_hash', // 32 hex: eventHash()
  'content_hash', // 16 hex: of everything after it, with received_at as RECEIVED_ZERO
  'platform_id',
  'environment',
  'reference',
  'customer_key', // the customer's reference or id, as the sender gave it
  'meter_reference',
  'timestamp', // epoch milliseconds, as text with three decimals of a second: 1700158623.979
  'received_at', // as timestamp
  'value_references', // string[]
  'value_quantities', // string[]: plain decimals, one for each value reference
  'value_currencies', // string[]: '' for a NUMBER value
  'properties', // {reference: value}
  'subscription', // which subscription it asks for: subscriptionKey() of shared/attribution/selector.ts; '' for none
] as const

export type EventRecord = {
  idHash: string
  contentHash: string
  platformId: string
  environment: Environment
  reference: string
  customerKey: string
  meterReference: string
  timestampMs: number
  receivedAtMs: number
  valueReferences: string[]
  valueQuantities: string[]
  valueCurrencies: string[]
  properties: Record<string, string>
  subscription: string
}

/** 128 bits (32 hex digits) that name (platform, environment, reference) for ever. */
export const eventHash = (platformId: string, environment: Environment, reference: string): string =>
  hash('sha256', `${platformId}\n${environment}\n${reference}`, 'hex').slice(0, 32)

/** The public id of an event, the same for every resend of its reference. */
export const eventId = (idHash: string): string => `meda_${idHash}`

/** The id hash of a public event id, or null when it is not one. */
export const idHashOf = (id: string): string | null => (/^meda_[0-9a-f]{32}$/.test(id) ? id.slice(5) : null)

/** The partition a reference belongs to, for ever: its first 32 hash bits modulo the number of partitions. */
export const partitionOf = (idHash: string, partitions: number): number =>
  Number.parseInt(idHash.slice(0, 8), 16) % partitions

const MILLISECONDS = Array.from({ length: 1000 }, (_, ms) => `.${ms.toString().padStart(3, '0')}`)

/**
 * Seconds with three decimals, the text ClickHouse reads as DateTime64(3). Padded to ten digits: ClickHouse refuses the
 * shorter text of an instant before September 2001. `epochMs` is a whole number, 1970 or later.
 */
export const wireTime = (epochMs: number): string =>
  Math.floor(epochMs / 1000)
    .toString()
    .padStart(10, '0') + (MILLISECONDS[epochMs % 1000] ?? '')

/** Stands for received_at while the content hash is computed. */
export const RECEIVED_ZERO = '0000000000.000'

const ID_HASH_AT = 2
const CONTENT_HASH_AT = 37

/** The line of one event, without a line end. The content hash covers what the sender chose, not when it arrived. */
export function encodeEvent(event: Omit<EventRecord, 'contentHash'>): { line: string; contentHash: string } {
  const before = JSON.stringify([
    event.platformId,
    event.environment,
    event.reference,
    event.customerKey,
    event.meterReference,
    wireTime(event.timestampMs),
  ])
  const after = JSON.stringify([
    event.valueReferences,
    event.valueQuantities,
    event.valueCurrencies,
    event.properties,
    event.subscription,
  ])
  return joinEvent(event.idHash, before, after, event.receivedAtMs)
}

/** As encodeEvent, for a caller that has written the two arrays of JSON text, before and after received_at, by itself. */
export function joinEvent(
  idHash: string,
  before: string,
  after: string,
  receivedAtMs: number,
): { line: string; contentHash: string } {
  // Zeros stand for the time it arrived, so that what is hashed lies in one piece in the line.
  const content = `${before.slice(1, -1)},"${RECEIVED_ZERO}",${after.slice(1)}`
  const contentHash = hashContentText(content)
  const receivedAt = `"${wireTime(receivedAtMs)}"`
  const line = `["${idHash}","${contentHash}",${before.slice(1, -1)},${receivedAt},${after.slice(1)}`
  return { line, contentHash }
}

/** Id hash and content hash of an event line, read at their fixed places. */
export const hashesOf = (line: string): { idHash: string; contentHash: string } => ({
  idHash: line.slice(ID_HASH_AT, ID_HASH_AT + 32),
  contentHash: line.slice(CONTENT_HASH_AT, CONTENT_HASH_AT + 16),
})

/** An event line parsed. Throws on a line that is not one: the log holds only what encodeEvent wrote. */
export function decodeEvent(line: string): EventRecord {
  const fields: unknown = JSON.parse(line)
  if (!Array.isArray(fields) || fields.length !== EVENT_FIELDS.length) throw new Error('not an event record')
  const [
    idHash,
    contentHash,
    platformId,
    environment,
    reference,
    customerKey,
    meterReference,
    timestamp,
    receivedAt,
    valueReferences,
    valueQuantities,
    valueCurrencies,
    properties,
    subscription,
  ] = fields
  return {
    idHash,
    contentHash,
    platformId,
    environment,
    reference,
    customerKey,
    meterReference,
    timestampMs: Math.round(Number(timestamp) * 1000),
    receivedAtMs: Math.round(Number(receivedAt) * 1000),
    valueReferences,
    valueQuantities,
    valueCurrencies,
    properties,
    subscription,
  }
}

/** A request to stop counting an event. It is published to the event's partition, so it is ordered after the event. */
export type DeleteRecord = {
  idHash: string
  platformId: string
  environment: Environment
  receivedAtMs: number
}

/** The line of a deletion, without a line end. */
export const encodeDelete = (record: DeleteRecord): string =>
  JSON.stringify({
    delete: record.idHash,
    platform_id: record.platformId,
    environment: record.environment,
    received_at: wireTime(record.receivedAtMs),
  })

/**
 * A request to replace what an event measured. Its customer, meter and time stay: they say where it is kept. Published to
 * the event's partition like a deletion; of several amendments the one that stands last in the log holds.
 */
export type AmendRecord = {
  idHash: string
  platformId: string
  environment: Environment
  receivedAtMs: number
  /** All values the event has from now on. */
  valueReferences: readonly string[]
  valueQuantities: readonly string[]
  valueCurrencies: readonly string[]
  /** All properties the event has from now on; null leaves those it has. */
  properties: Readonly<Record<string, string>> | null
  /** Who asked, in which request, and why; '' when not known or not said. */
  actorId: string
  requestId: string
  reason: string
}

/** The line of an amendment, without a line end. */
export const encodeAmend = (record: AmendRecord): string =>
  JSON.stringify({
    amend: record.idHash,
    platform_id: record.platformId,
    environment: record.environment,
    received_at: wireTime(record.receivedAtMs),
    value_references: record.valueReferences,
    value_quantities: record.valueQuantities,
    value_currencies: record.valueCurrencies,
    properties: record.properties,
    actor_id: record.actorId,
    request_id: record.requestId,
    reason: record.reason,
  })

/** The message body of these lines. */
export const encodeMessage = (lines: readonly string[]): string => `${WIRE_VERSION}\n${lines.join('\n')}`

/** The lines of a message body. Throws on a format this build does not know. */
export function decodeMessage(body: string): string[] {
  const [version, ...lines] = body.split('\n')
  if (version !== WIRE_VERSION) throw new Error(`usage log format ${version} is not known to this build`)
  return lines
}
