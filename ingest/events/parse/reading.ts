// What the parsers of one body share: where they stand, for the path in a refusal, and the checks every text needs.
import { AppError, type ErrorCode } from '../../../shared/errors.ts'
import type { Instant } from '../../../shared/time.ts'
import type { JsonScan } from '../../http/scan-json.ts'
import type { MeterSet } from './meter.ts'

/** Longest reference, id or customer key, in characters. */
export const REFERENCE_MAX = 255
/** Longest value of a meter property, in characters. */
export const PROPERTY_VALUE_MAX = 1_000

export type JsonObject = { readonly [name: string]: unknown }

export class Reading {
  readonly scan: JsonScan
  readonly meters: MeterSet
  readonly now: Instant
  readonly readTimestamp: (text: string) => Instant | null
  /** Object keys met so far; compared with the scan's count to find a key that is given twice. */
  keys = 0
  /** Path of the event being read, '' or ending in a dot. */
  eventPath = ''
  /** Path of the list inside the event and the place in it, or ''. */
  list = ''
  entry = 0
  /** Path of the object inside the entry, '' or ending in a dot. */
  inner = ''

  constructor(options: {
    scan: JsonScan
    meters: MeterSet
    now: Instant
    readTimestamp: (text: string) => Instant | null
  }) {
    this.scan = options.scan
    this.meters = options.meters
    this.now = options.now
    this.readTimestamp = options.readTimestamp
  }

  path(name: string): string {
    const entry = this.list === '' ? '' : `${this.list}.${this.entry}.`
    return `${this.eventPath}${entry}${this.inner}${name}`.replace(/\.$/, '')
  }

  refuse(code: ErrorCode, name: string, message: string): never {
    const field = this.path(name)
    throw new AppError(code, message, { status: 400, ...(field === '' ? {} : { field }) })
  }
}

// Control characters and lone surrogates: neither can be seen, and the latter cannot even be written as UTF-8.
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u
const NOT_STORABLE = /[\0\p{Cs}]/u

/** A JSON object; its keys are counted and checked against `known`. Refuses anything else, and the first unknown field by name. */
export function readObject(value: unknown, known: ReadonlySet<string>, reading: Reading): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    reading.refuse('INVALID_FIELD', '', `Expected a JSON object${where(reading, '')}.`)
  }
  const object = value as JsonObject
  for (const name in object) {
    reading.keys += 1
    if (!known.has(name)) {
      reading.refuse(
        'INVALID_FIELD',
        name,
        `${JSON.stringify(name.slice(0, REFERENCE_MAX))} is not a field that can be set here.`,
      )
    }
  }
  return object
}

/** A list of at most `most` entries; absent and null are the empty list. */
export function readList(value: unknown, name: string, most: number, reading: Reading): readonly unknown[] {
  if (value === undefined || value === null) return NOTHING
  if (!Array.isArray(value)) return reading.refuse('INVALID_FIELD', name, `Expected a list${where(reading, name)}.`)
  if (value.length > most) {
    return reading.refuse('INVALID_FIELD', name, `${value.length} entries were given and at most ${most} are allowed.`)
  }
  return value
}
const NOTHING: readonly unknown[] = []

/** A reference, id or key of 1 to 255 printable characters, or null when absent or null. */
export function readReference(value: unknown, name: string, reading: Reading): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string')
    return reading.refuse('INVALID_FIELD', name, `Expected a string${where(reading, name)}.`)
  if (value.length === 0 || value.length > REFERENCE_MAX) {
    return reading.refuse('INVALID_FIELD', name, `Expected 1 to ${REFERENCE_MAX} characters${where(reading, name)}.`)
  }
  if (!reading.scan.plain && UNPRINTABLE.test(value)) {
    return reading.refuse(
      'INVALID_FIELD',
      name,
      `Control characters and lone surrogates are not allowed${where(reading, name)}.`,
    )
  }
  return value
}

/** A text of at most PROPERTY_VALUE_MAX characters that can be stored. Required. */
export function readText(value: unknown, name: string, reading: Reading): string {
  if (value === undefined || value === null) return reading.refuse('MISSING_FIELD', name, `${name} is required.`)
  if (typeof value !== 'string') {
    return reading.refuse(
      'INVALID_FIELD',
      name,
      `Expected a string${where(reading, name)}; send numbers as strings too.`,
    )
  }
  if (value.length > PROPERTY_VALUE_MAX) {
    return reading.refuse(
      'INVALID_FIELD',
      name,
      `Expected at most ${PROPERTY_VALUE_MAX} characters${where(reading, name)}.`,
    )
  }
  if (!reading.scan.plain && NOT_STORABLE.test(value)) {
    return reading.refuse('INVALID_FIELD', name, `NUL and lone surrogates are not allowed${where(reading, name)}.`)
  }
  return value
}

const where = (reading: Reading, name: string): string => {
  const path = reading.path(name)
  return path === '' ? '' : ` at ${path}`
}
