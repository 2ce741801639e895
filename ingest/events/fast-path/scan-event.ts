// One event found in the bytes of a body: where its fields start and end, without making strings or objects of them. It
// knows one form, that of a body written by a machine that sends what the interface asks for. Whatever else may be right,
// or is wrong, is NOT_FAST_PATH, and parse.ts reads it: so this file refuses nothing, and must only never take what parse.ts
// would not, or take it otherwise.
import { PROPERTY_VALUE_MAX, REFERENCE_MAX } from '../parse/reading.ts'
import { AsciiText, type Input, isTextAt } from './bytes.ts'

/** The text is not of the common form, so the fast path does not take it. */
export const NOT_FAST_PATH = -1

/** More entries than this are left to parse.ts. */
const ENTRIES_MAX = 64

/** Words of an entry in a EntrySpans: the starts and ends of its reference, its value and its currency. */
export const SPAN_WORDS = 6

/** The entries of meter_values or meter_properties. The end of a currency that is not there is 0. */
export class EntrySpans {
  count = 0
  readonly spans = new Int32Array(ENTRIES_MAX * SPAN_WORDS)
}

/** Starts and ends of one event's texts. An end of 0: it is not there. */
export class EventSpans {
  reference = 0
  referenceEnd = 0
  customer = 0
  customerEnd = 0
  customerIsId = false
  meter = 0
  meterEnd = 0
  meterIsId = false
  timestamp = 0
  timestampEnd = 0
  readonly values = new EntrySpans()
  readonly properties = new EntrySpans()

  clear(): void {
    this.referenceEnd = 0
    this.customerEnd = 0
    this.meterEnd = 0
    this.timestampEnd = 0
    this.values.count = 0
    this.properties.count = 0
  }
}

const QUOTE = 0x22
export const COMMA = 0x2c
const COLON = 0x3a
export const OPEN_LIST = 0x5b
export const CLOSE_LIST = 0x5d
export const OPEN = 0x7b
export const CLOSE = 0x7d
const SPACE = 0x20
const BACKSLASH = 0x5c

// Printable ASCII that needs no escape: neither the end of a string nor the start of anything special.
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= SPACE && byte < 0x7f && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
)
const IS_SPACE = Uint8Array.from({ length: 256 }, (_, byte) => (' \t\r\n'.includes(String.fromCharCode(byte)) ? 1 : 0))

/** The first byte from `at` that is not white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at
  while (IS_SPACE[bytes[next] ?? 0] === 1) next += 1
  return next
}

/** Where the string that starts at `start`, after its quote, has its closing quote. */
export function endOfText(bytes: Uint8Array, start: number, most: number): number {
  let end = start
  while (PLAIN[bytes[end] ?? 0] === 1) end += 1
  return bytes[end] === QUOTE && end - start <= most ? end : NOT_FAST_PATH
}

// With the closing quote, so that a longer name does not match.
const named = (name: string): AsciiText => new AsciiText(`${name}"`)
const FIELDS = [
  'reference',
  'customer_reference',
  'meter_reference',
  'timestamp',
  'meter_values',
  'meter_properties',
  'customer_id',
  'meter_id',
].map(named)
const REFERENCE = 0
const CUSTOMER_REFERENCE = 1
const METER_REFERENCE = 2
const TIMESTAMP = 3
const METER_VALUES = 4
const METER_PROPERTIES = 5
const CUSTOMER_ID = 6
const METER_ID = 7

// What followed each field the last time: senders write their fields in the same order again and again.
const successor = Uint8Array.from(FIELDS, (_, field) => (field + 1) % FIELDS.length)

function findField(view: DataView, at: number, before: number): number {
  const likely = successor[before] ?? 0
  const piece = FIELDS[likely]
  if (piece !== undefined && isTextAt(view, at, piece)) return likely
  const field = FIELDS.findIndex(name => isTextAt(view, at, name))
  if (field >= 0) successor[before] = field
  return field
}

/** Reads the event at `start` into `event`; returns the place after it, or NOT_FAST_PATH. */
export function scanEvent({ bytes, view }: Input, start: number, event: EventSpans): number {
  event.clear()
  if (bytes[start] !== OPEN) return NOT_FAST_PATH
  let at = start
  let seen = 0
  let field = METER_ID
  for (;;) {
    at = skipSpace(bytes, at + 1)
    if (bytes[at] !== QUOTE) return NOT_FAST_PATH
    field = findField(view, at + 1, field)
    const name = FIELDS[field]
    if (name === undefined || (seen & (1 << field)) !== 0) return NOT_FAST_PATH
    seen |= 1 << field
    at = afterColon(bytes, at + 1 + name.length)
    if (at < 0) return NOT_FAST_PATH
    at =
      field === METER_VALUES || field === METER_PROPERTIES
        ? scanList(bytes, view, at, event, field)
        : scanText(bytes, at, event, field)
    if (at < 0) return NOT_FAST_PATH
    at = skipSpace(bytes, at)
    if (bytes[at] === COMMA) continue
    const isWhole =
      bytes[at] === CLOSE &&
      event.referenceEnd > 0 &&
      event.customerEnd > 0 &&
      event.meterEnd > 0 &&
      (seen & BOTH_CUSTOMERS) !== BOTH_CUSTOMERS &&
      (seen & BOTH_METERS) !== BOTH_METERS
    return isWhole ? at + 1 : NOT_FAST_PATH
  }
}

const BOTH_CUSTOMERS = (1 << CUSTOMER_ID) | (1 << CUSTOMER_REFERENCE)
const BOTH_METERS = (1 << METER_ID) | (1 << METER_REFERENCE)

/** The place of what follows the colon that is next from `at`. */
function afterColon(bytes: Uint8Array, at: number): number {
  const colon = skipSpace(bytes, at)
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : NOT_FAST_PATH
}

function scanText(bytes: Uint8Array, at: number, event: EventSpans, field: number): number {
  if (bytes[at] !== QUOTE) return NOT_FAST_PATH
  const start = at + 1
  const end = endOfText(bytes, start, REFERENCE_MAX)
  if (end <= start) return NOT_FAST_PATH
  switch (field) {
    case REFERENCE:
      event.reference = start
      event.referenceEnd = end
      break
    case CUSTOMER_REFERENCE:
    case CUSTOMER_ID:
      event.customer = start
      event.customerEnd = end
      event.customerIsId = field === CUSTOMER_ID
      break
    case METER_REFERENCE:
    case METER_ID:
      event.meter = start
      event.meterEnd = end
      event.meterIsId = field === METER_ID
      break
    case TIMESTAMP:
      event.timestamp = start
      event.timestampEnd = end
      break
    default:
      return NOT_FAST_PATH
  }
  return end + 1
}

function scanList(bytes: Uint8Array, view: DataView, start: number, event: EventSpans, field: number): number {
  if (bytes[start] !== OPEN_LIST) return NOT_FAST_PATH
  const list = field === METER_VALUES ? event.values : event.properties
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === CLOSE_LIST) return at + 1
  for (;;) {
    if (list.count === ENTRIES_MAX) return NOT_FAST_PATH
    at = scanEntry(bytes, view, at, list, field === METER_VALUES)
    if (at < 0) return NOT_FAST_PATH
    list.count += 1
    at = skipSpace(bytes, at)
    if (bytes[at] === CLOSE_LIST) return at + 1
    if (bytes[at] !== COMMA) return NOT_FAST_PATH
    at = skipSpace(bytes, at + 1)
  }
}

const ENTRY_REFERENCE = named('reference')
const ENTRY_NUMBER = named('number')
const ENTRY_AMOUNT = named('amount')
const ENTRY_VALUE = named('value')
const QUANTITY = named('quantity')
const CURRENCY = named('currency')

/** An entry: its reference, and its number, amount or value. */
function scanEntry(bytes: Uint8Array, view: DataView, start: number, list: EntrySpans, isValue: boolean): number {
  const { spans } = list
  const to = list.count * SPAN_WORDS
  spans[to + 1] = 0
  spans[to + 3] = 0
  spans[to + 5] = 0
  if (bytes[start] !== OPEN) return NOT_FAST_PATH
  let at = start
  for (;;) {
    at = skipSpace(bytes, at + 1)
    if (bytes[at] !== QUOTE) return NOT_FAST_PATH
    const name = at + 1
    if (isTextAt(view, name, ENTRY_REFERENCE))
      at = takeText(bytes, name + ENTRY_REFERENCE.length, spans, to, REFERENCE_MAX)
    else if (!isValue && isTextAt(view, name, ENTRY_VALUE))
      at = takeText(bytes, name + ENTRY_VALUE.length, spans, to + 2, PROPERTY_VALUE_MAX)
    else if (isValue && isTextAt(view, name, ENTRY_NUMBER))
      at = takeText(bytes, name + ENTRY_NUMBER.length, spans, to + 2, REFERENCE_MAX)
    else if (isValue && isTextAt(view, name, ENTRY_AMOUNT))
      at = scanAmount(bytes, view, afterColon(bytes, name + ENTRY_AMOUNT.length), spans, to + 2)
    else return NOT_FAST_PATH
    if (at < 0) return NOT_FAST_PATH
    at = skipSpace(bytes, at)
    if (bytes[at] === COMMA) continue
    return bytes[at] === CLOSE && spans[to + 1] !== 0 && spans[to + 3] !== 0 ? at + 1 : NOT_FAST_PATH
  }
}

/** The text after a colon, its start and end written to `spans` from `to`, where none may stand yet. */
function takeText(bytes: Uint8Array, at: number, spans: Int32Array, to: number, most: number): number {
  const quote = afterColon(bytes, at)
  if (quote < 0 || bytes[quote] !== QUOTE || spans[to + 1] !== 0) return NOT_FAST_PATH
  const end = endOfText(bytes, quote + 1, most)
  if (end < 0) return NOT_FAST_PATH
  spans[to] = quote + 1
  spans[to + 1] = end
  return end + 1
}

function scanAmount(bytes: Uint8Array, view: DataView, start: number, spans: Int32Array, to: number): number {
  if (start < 0 || bytes[start] !== OPEN) return NOT_FAST_PATH
  let at = start
  for (;;) {
    at = skipSpace(bytes, at + 1)
    if (bytes[at] !== QUOTE) return NOT_FAST_PATH
    const name = at + 1
    if (isTextAt(view, name, QUANTITY)) at = takeText(bytes, name + QUANTITY.length, spans, to, REFERENCE_MAX)
    else if (isTextAt(view, name, CURRENCY)) at = takeText(bytes, name + CURRENCY.length, spans, to + 2, REFERENCE_MAX)
    else return NOT_FAST_PATH
    if (at < 0) return NOT_FAST_PATH
    at = skipSpace(bytes, at)
    if (bytes[at] === COMMA) continue
    return bytes[at] === CLOSE && spans[to + 1] !== 0 && spans[to + 3] !== 0 ? at + 1 : NOT_FAST_PATH
  }
}
