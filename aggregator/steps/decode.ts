// Message body -> records. Pure. Everything a column of usage_events could refuse is found here, line by line: an insert
// that ClickHouse refuses would stop the partition, and a line that is not kept must not claim its reference.
import { EVENT_FIELDS, partitionOf, WIRE_VERSION } from '../../shared/contracts/usage-event.ts'
import { isPlainDecimal } from '../../shared/decimal.ts'
import type { Environment } from '../../shared/tenant.ts'
import {
  type AmendLine,
  type DeadLine,
  type DeadReason,
  type DeleteLine,
  type EventLine,
  hourOf,
  type LogMessage,
} from '../outcome.ts'

export type LogRecord = EventLine | DeleteLine | AmendLine | DeadLine
/** Which partition is read, of how many. */
export type PartitionOfLog = { readonly partition: number; readonly partitions: number }

const ID_HASH = /^[0-9a-f]{32}$/
const CONTENT_HASH = /^[0-9a-f]{16}$/
const WIRE_TIME = /^[0-9]{10}\.[0-9]{3}$/
const FORMAT_VERSION = /^[0-9]{1,6}$/
/** The first second of 2200: the door refuses anything later. */
const SECONDS_END = 7_258_118_400

/** A message of a newer build. The reader stops at it and waits to be upgraded; storing it as dead would lose its events. */
export class UnknownFormatError extends Error {}

/** The records of one message, in order. Throws UnknownFormatError and nothing else. */
export function decodeLogMessage(message: LogMessage, log: PartitionOfLog): LogRecord[] {
  const [version = '', ...lines] = message.body.split('\n')
  if (version !== WIRE_VERSION) {
    if (FORMAT_VERSION.test(version)) {
      throw new UnknownFormatError(
        `message ${message.seq} of partition ${log.partition} has format ${version}; this build knows ${WIRE_VERSION}`,
      )
    }
    return [{ kind: 'dead', seq: message.seq, line: 0, text: message.body, reason: 'NOT_A_MESSAGE' }]
  }
  return lines.map((text, line) => decodeLine(text, { seq: message.seq, line }, log))
}

function decodeLine(text: string, place: { seq: number; line: number }, log: PartitionOfLog): LogRecord {
  const dead = (reason: DeadReason): DeadLine => ({ kind: 'dead', ...place, text, reason })
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null) return dead('NOT_A_RECORD')
  const record = Array.isArray(value) ? eventLine(value, text, place) : controlLine(value, text, place)
  if (typeof record === 'string') return dead(record)
  return partitionOf(record.idHash, log.partitions) === log.partition ? record : dead('WRONG_PARTITION')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // Not JSON at all: the caller stores the line as dead.
  }
}

function eventLine(fields: unknown[], text: string, place: { seq: number; line: number }): EventLine | DeadReason {
  // The aggregator's columns are put before the closing bracket, so the line must end with it.
  if (fields.length !== EVENT_FIELDS.length || !text.endsWith(']')) return 'NOT_A_RECORD'
  const [idHash, contentHash, platformId, environment, reference, customerKey, meterReference, timestamp] = fields
  const [receivedAt, valueReferences, quantities, currencies, properties, subscription] = fields.slice(8)
  if (!matches(ID_HASH, idHash) || !matches(CONTENT_HASH, contentHash) || !isEnvironment(environment)) {
    return 'INVALID_FIELD'
  }
  if (!isText(platformId) || !isText(reference) || !isText(customerKey) || !isText(meterReference)) {
    return 'INVALID_FIELD'
  }
  if (!isWireTime(timestamp) || !isWireTime(receivedAt) || typeof subscription !== 'string') return 'INVALID_FIELD'
  if (!areValues(valueReferences, quantities, currencies) || !isTextMap(properties)) return 'INVALID_FIELD'
  const bucket = { platformId, environment, customerKey, meterReference, hour: hourOf(Number(timestamp)) }
  const receivedSecond = Math.floor(Number(receivedAt))
  return { kind: 'event', ...place, text, idHash, contentHash, bucket, receivedSecond }
}

const controlLine = (value: object, text: string, place: { seq: number; line: number }) =>
  'amend' in value ? amendLine(value, text, place) : deleteLine(value, text, place)

function deleteLine(value: object, text: string, place: { seq: number; line: number }): DeleteLine | DeadReason {
  const { delete: idHash, platform_id, environment } = value as Record<string, unknown>
  if (!matches(ID_HASH, idHash) || !isText(platform_id) || !isEnvironment(environment)) return 'NOT_A_RECORD'
  return { kind: 'delete', ...place, text, idHash, platformId: platform_id, environment }
}

function amendLine(value: object, text: string, place: { seq: number; line: number }): AmendLine | DeadReason {
  const { amend: idHash, platform_id, environment, received_at, properties, ...rest } = value as Record<string, unknown>
  if (!matches(ID_HASH, idHash) || !isText(platform_id) || !isEnvironment(environment)) return 'NOT_A_RECORD'
  const { value_references, value_quantities, value_currencies, actor_id, request_id, reason } = rest
  if (!isWireTime(received_at) || (properties !== null && !isTextMap(properties))) return 'INVALID_FIELD'
  if (!isTexts(value_references) || !isTexts(value_quantities) || !isTexts(value_currencies)) return 'INVALID_FIELD'
  if (!areValues(value_references, value_quantities, value_currencies)) return 'INVALID_FIELD'
  if (typeof actor_id !== 'string' || typeof request_id !== 'string' || typeof reason !== 'string')
    return 'INVALID_FIELD'
  return {
    kind: 'amend',
    ...place,
    text,
    idHash,
    platformId: platform_id,
    environment,
    receivedAt: received_at,
    valueReferences: value_references,
    valueQuantities: value_quantities,
    valueCurrencies: value_currencies,
    properties,
    actorId: actor_id,
    requestId: request_id,
    reason,
  }
}

const matches = (pattern: RegExp, value: unknown): value is string => typeof value === 'string' && pattern.test(value)
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isEnvironment = (value: unknown): value is Environment => value === 'TEST' || value === 'LIVE'
const isWireTime = (value: unknown): value is string => matches(WIRE_TIME, value) && Number(value) < SECONDS_END
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every(item => typeof item === 'string')

const areValues = (references: unknown, quantities: unknown, currencies: unknown): boolean =>
  isTexts(references) &&
  isTexts(quantities) &&
  isTexts(currencies) &&
  quantities.length === references.length &&
  currencies.length === references.length &&
  quantities.every(isPlainDecimal)

const isTextMap = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && isTexts(Object.values(value))
