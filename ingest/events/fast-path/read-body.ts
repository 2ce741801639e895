// The fast path of a body: from its bytes to lines and answer in one go, when it is of the common form and all right.
// Anything else is left, whole, to parse.ts and encode.ts, which alone refuse.
import type { ApiKeyIdentity } from '../../../shared/access/live-keys.ts'
import { AHEAD_MS_MAX } from '../../../shared/contracts/event-time.ts'
import { wireTime } from '../../../shared/contracts/usage-event.ts'
import type { Instant } from '../../../shared/time.ts'
import { wholeSeconds } from '../encode.ts'
import type { Lines } from '../lines.ts'
import type { Meter, MeterSet } from '../parse/meter.ts'
import { AsciiText, Input, isTextAt, Output, PADDING_BYTES, putByte, putText } from './bytes.ts'
import { createLayoutCache, type EventLayout } from './layout-cache.ts'
import { type MeterBytes, meterBytes, NO_METER, shapeFor } from './meter-bytes.ts'
import { resolveEntries } from './resolve-entries.ts'
import {
  CLOSE,
  CLOSE_LIST,
  COMMA,
  EventSpans,
  NOT_FAST_PATH,
  OPEN,
  OPEN_LIST,
  scanEvent,
  skipSpace,
} from './scan-event.ts'
import { CREATED_AT, CUSTOMER, ID_HASH, REFERENCE, type Template, TIMESTAMP, WIRE_TIME } from './shape.ts'
import { Slots } from './slots.ts'
import { tenantBytes } from './tenant-bytes.ts'
import { createTimeReader, putWholeSeconds, putWireTime, WIRE_TIME_LENGTH } from './times.ts'
import { putLine, putTemplate } from './write-event.ts'

/** A larger body is read by parse.ts. */
const BODY_BYTES_MAX = 256 * 1024

/** What an answer has room for before it grows. */
const ANSWER_BYTES = 2 * 1024
/** Answers kept to be written over. Memory that is taken and given back at this rate is most of what the collector sees. */
const SPARE_MAX = 256

export type FastReadContext = {
  readonly identity: ApiKeyIdentity
  readonly meters: MeterSet
  readonly now: Instant
  readonly batchMax: number
  /** A longer line is left to be refused. */
  readonly lineBytesMax: number
}

export type FastReader = {
  /**
   * Adds the lines of the body's events to `lines`, which is empty, and returns the bytes of the answer; or null when
   * parse.ts must read the body: then `lines` may hold some that nobody may use.
   */
  read(body: Uint8Array, form: 'single' | 'list', context: FastReadContext, lines: Lines): FastAnswer | null
}

export type FastAnswer = {
  readonly bytes: Uint8Array
  /** Call it when nobody looks at the bytes any more; another answer is then written over them. */
  release(): void
}

/** A reader with buffers of its own, which it uses for every body. */
export function createFastReader(): FastReader {
  const input = new Input(BODY_BYTES_MAX)
  const spare: Output[] = []
  let answer = new Output(ANSWER_BYTES)
  const spans = new EventSpans()
  const slots = new Slots()
  const event = { input, slots, line: NO_TEMPLATE }
  const readTime = createTimeReader()
  const meterOf = createMeterFinder(input)
  const arrival = createArrival()
  const layouts = createLayoutCache({ input, spans, slots })
  let answered = 0
  let scanned = 0

  // The texts that are made of an event, not found in it, stand behind the body.
  const idHashPlace = input.notes
  const wireTimePlace = idHashPlace + ID_HASH_LENGTH
  const timestampPlace = wireTimePlace + WIRE_TIME_LENGTH + PADDING_BYTES
  const createdAtPlace = timestampPlace + PADDING_BYTES
  slots.put(ID_HASH, idHashPlace, idHashPlace + ID_HASH_LENGTH)
  slots.put(WIRE_TIME, wireTimePlace, wireTimePlace + WIRE_TIME_LENGTH)
  slots.put(CREATED_AT, createdAtPlace, createdAtPlace + SECONDS_LENGTH)

  /** Puts the times of the event into their slots; false when its timestamp is not one that is taken here. */
  const putTimes = (now: Instant): boolean => {
    const { timestamp: start, timestampEnd: end } = spans
    const at = end === 0 ? now : readTime(input, start, end)
    if (at < 0 || at > now + AHEAD_MS_MAX) return false
    putWireTime(at, input.view, wireTimePlace)
    if (end === 0) {
      slots.put(TIMESTAMP, createdAtPlace, createdAtPlace + SECONDS_LENGTH)
    } else {
      slots.put(TIMESTAMP, timestampPlace, putWholeSeconds(input.view, start, input.view, timestampPlace))
    }
    return true
  }

  /** Finds the event at `start` by a full scan; null when parse.ts must read it. */
  const scan = (start: number, meters: MeterSet): EventLayout | null => {
    scanned = scanEvent(input, start, spans)
    const meter = scanned < 0 ? null : meterOf(meters, spans)
    if (meter === null) return null
    slots.put(REFERENCE, spans.reference, spans.referenceEnd)
    slots.put(CUSTOMER, spans.customer, spans.customerEnd)
    const mask = resolveEntries(input, spans, meter, slots)
    if (mask < 0) return null
    const layout = { meter, mask }
    layouts.learn(start, scanned, layout)
    return layout
  }

  /** Reads one event at `start` to a line and a view; the place after it, or NOT_FAST_PATH. */
  const readEvent = (start: number, context: FastReadContext, lines: Lines): number => {
    const known = layouts.find(start, context.meters)
    const layout = known ?? scan(start, context.meters)
    if (layout === null) return NOT_FAST_PATH
    const end = known === null ? scanned : layouts.end
    if (!putTimes(context.now)) return NOT_FAST_PATH
    const shape = shapeFor(layout.meter, layout.mask)
    const tenant = tenantBytes(context.identity)
    // No text of the event is written more than once to either.
    const most = end - start + shape.bytes + tenant.line.length + MADE_BYTES_MAX
    lines.reserve(most)
    answer.reserve(answered, most)
    event.line = shape.line
    const lineEnd = putLine(event, tenant, arrival.receivedAt, lines)
    if (lineEnd - lines.length > context.lineBytesMax) return NOT_FAST_PATH
    lines.push(lineEnd)
    answered = putTemplate(shape.view, input.view, slots, answer, answered)
    return end
  }

  const readList = (start: number, context: FastReadContext, lines: Lines): number => {
    if (input.bytes[start] !== OPEN_LIST) return NOT_FAST_PATH
    let at = skipSpace(input.bytes, start + 1)
    answered = putByte(OPEN_LIST, answer.view, answered)
    for (;;) {
      if (lines.count === context.batchMax) return NOT_FAST_PATH
      at = readEvent(at, context, lines)
      if (at < 0) return NOT_FAST_PATH
      at = skipSpace(input.bytes, at)
      const byte = input.bytes[at]
      if (byte !== COMMA && byte !== CLOSE_LIST) return NOT_FAST_PATH
      answered = putByte(byte, answer.view, answered)
      if (byte === CLOSE_LIST) return at + 1
      at = skipSpace(input.bytes, at + 1)
    }
  }

  /** `{"meter_datas":[…]}` */
  const readWrapped = (start: number, context: FastReadContext, lines: Lines): number => {
    const { bytes, view } = input
    let at = skipSpace(bytes, start + 1)
    if (!isTextAt(view, at, WRAPPER_NAME)) return NOT_FAST_PATH
    at = skipSpace(bytes, at + WRAPPER_NAME.length)
    if (!isTextAt(view, at, WRAPPER_COLON)) return NOT_FAST_PATH
    answered = putText(WRAPPER, answer.view, answered)
    at = readList(skipSpace(bytes, at + 1), context, lines)
    if (at < 0) return NOT_FAST_PATH
    at = skipSpace(bytes, at)
    answered = putByte(CLOSE, answer.view, answered)
    return bytes[at] === CLOSE ? at + 1 : NOT_FAST_PATH
  }

  return {
    read: (body, form, context, lines) => {
      if (!input.load(body)) return null
      arrival.set(context.now)
      putText(arrival.createdAt, input.view, createdAtPlace)
      answered = 0
      const start = skipSpace(input.bytes, 0)
      let read = readEvent
      if (form === 'list') read = input.bytes[start] === OPEN ? readWrapped : readList
      const end = read(start, context, lines)
      if (end < 0 || skipSpace(input.bytes, end) !== body.length) return null
      const written = answer
      answer = spare.pop() ?? new Output(ANSWER_BYTES)
      const release = (): void => {
        if (spare.length < SPARE_MAX) spare.push(written)
      }
      return { bytes: written.bytes.subarray(0, answered), release }
    },
  }
}

const WRAPPER_NAME = new AsciiText('"meter_datas"')
const WRAPPER_COLON = new AsciiText(':')
const WRAPPER = new AsciiText('{"meter_datas":')

const NO_TEMPLATE: Template = { first: new AsciiText(''), slots: new Int32Array(0), pieces: [] }

const ID_HASH_LENGTH = 32
const SECONDS_LENGTH = 20
/** More than the hashes and times of a line or a view take, and what stands before its template. */
const MADE_BYTES_MAX = 256

/** The time of the request in its two forms, made anew only when it is another. */
function createArrival() {
  let last = Number.NaN
  return {
    receivedAt: new AsciiText(''),
    createdAt: new AsciiText(''),
    set(now: Instant): void {
      if (now === last) return
      if (Math.floor(now / 1_000) !== Math.floor(last / 1_000)) this.createdAt = new AsciiText(wholeSeconds(now))
      this.receivedAt = new AsciiText(wireTime(now))
      last = now
    },
  }
}

/** Finds the meter an event names, or null; the bytes of a meter are made once. */
function createMeterFinder(input: Input): (meters: MeterSet, spans: EventSpans) => MeterBytes | null {
  const known = new WeakMap<Meter, MeterBytes | null>()
  let last = NO_METER
  return (meters, spans) => {
    const length = spans.meterEnd - spans.meter
    // The meter of the event before, if it is still what this tenant's set holds under its name.
    const isLast =
      !spans.meterIsId &&
      length === last.reference.length &&
      isTextAt(input.view, spans.meter, last.reference) &&
      meters.byReference.get(last.meter.reference) === last.meter
    if (isLast) return last
    const name = input.text(spans.meter, spans.meterEnd)
    const meter = spans.meterIsId ? meters.byId.get(name) : meters.byReference.get(name)
    if (meter === undefined) return null
    let bytes = known.get(meter)
    if (bytes === undefined) {
      bytes = meterBytes(meter)
      known.set(meter, bytes)
    }
    if (bytes !== null) last = bytes
    return bytes
  }
}
