// The body of an ingest call with meter_validation=DYNAMIC: what its events need defined, and the same body as the gateway
// takes it. Pure. What it says beside that is the gateway's to judge.
import { AHEAD_MS_MAX, whyNoEventTime } from '../../../../shared/contracts/event-time.ts'
import { isPlainDecimal } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { parseInstant } from '../../../../shared/time.ts'

/** A value or property as one event has it; `path` is the entry's place in the body. */
export type Mention = {
  readonly path: string
  readonly id: string | null
  readonly reference: string | null
  readonly required: boolean
}
export type ValueMention = Mention & { readonly type: 'NUMBER' | 'AMOUNT' }
export type PropertyMention = Mention & {
  /** Null when the event does not say: STRING for a new one. */
  readonly type: 'NUMBER' | 'ENUM' | 'STRING' | null
  readonly value: string
}
export type MeterMention = {
  readonly path: string
  readonly id: string | null
  readonly reference: string | null
  readonly values: readonly ValueMention[]
  readonly properties: readonly PropertyMention[]
}
export type DynamicBody = {
  readonly mentions: readonly MeterMention[]
  /** Without dynamic_validation_settings; the very bytes that came when there are none. */
  readonly forGateway: Buffer
}

const SETTINGS = 'dynamic_validation_settings'
/** As at the gateway: longest key, longest property value and most entries. */
const KEY_MAX = 255
const VALUE_MAX = 1_000
const ENTRIES_MAX = 1_000
const NOT_STORABLE = /[\0\p{Cs}]/u

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const invalid = (field: string, message: string): AppError => new AppError('INVALID_FIELD', message, { field })

/** Null: the gateway will refuse the body, and says why better. Throws INVALID_FIELD for settings that are none. */
export function readDynamicBody(bytes: Buffer): DynamicBody | null {
  const text = bytes.toString('utf8')
  const body = parse(text)
  const events = eventsOf(body)
  if (events === null) return null
  const mentions = events.map(({ event, path }) => readMeter(event, path))
  if (!text.includes(SETTINGS)) return { mentions, forGateway: bytes }
  // Written anew, a name that stood twice would stand once.
  if (countNames(text) !== countKeys(body))
    throw new AppError('BAD_REQUEST', 'The body gives a field twice in one object.')
  return { mentions, forGateway: Buffer.from(JSON.stringify(withoutSettings(body))) }
}

/**
 * Throws for the first event that the gateway would refuse for its reference, customer or time: nothing is defined for a
 * batch that will not be taken.
 */
export function checkEvents(bytes: Buffer, now: number): void {
  for (const { event, path } of eventsOf(parse(bytes.toString('utf8'))) ?? []) {
    requireKey(event, 'reference', path, 'MISSING_REFERENCE')
    if (event.customer_id === undefined || event.customer_id === null)
      requireKey(event, 'customer_reference', path, 'MISSING_FIELD')
    const { timestamp } = event
    if (timestamp === undefined || timestamp === null) continue
    const at = typeof timestamp === 'string' ? parseInstant(timestamp) : null
    if (at === null || at > now + AHEAD_MS_MAX) throw invalid(`${path}timestamp`, whyNoEventTime(timestamp))
  }
}

function requireKey(event: Json, name: string, path: string, code: 'MISSING_REFERENCE' | 'MISSING_FIELD'): void {
  const value = event[name]
  if (value === undefined || value === null)
    throw new AppError(code, `${name} is required.`, { field: `${path}${name}` })
  if (typeof value !== 'string' || value === '' || value.length > KEY_MAX)
    throw invalid(`${path}${name}`, `Expected 1 to ${KEY_MAX} characters.`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // Not JSON: the gateway's refusal says so.
  }
}

/** The events of a body in any of its forms, each with its path, '' or ending in a dot. */
function eventsOf(body: unknown): { event: Json; path: string }[] | null {
  const list = isObject(body) ? body.meter_datas : body
  if (isObject(body) && list === undefined) return [{ event: body, path: '' }]
  if (!Array.isArray(list) || !list.every(isObject)) return null
  return list.map((event, index) => ({ event, path: Array.isArray(body) ? `${index}.` : `meter_datas.${index}.` }))
}

function readMeter(event: Json, path: string): MeterMention {
  return {
    path,
    id: textOf(event.meter_id),
    reference: textOf(event.meter_reference),
    values: entriesOf(event, 'meter_values', path).map(({ entry, at }): ValueMention => {
      const settings = settingsOf(entry, at, ['NUMBER', 'AMOUNT'])
      const sent = isObject(entry.amount) ? 'AMOUNT' : 'NUMBER'
      return { ...named(entry, at), required: settings.required, type: settings.type ?? sent }
    }),
    properties: entriesOf(event, 'meter_properties', path).map(({ entry, at }): PropertyMention => {
      const settings = settingsOf(entry, at, ['NUMBER', 'ENUM', 'STRING'])
      const { value } = entry
      if (typeof value !== 'string') throw invalid(`${at}.value`, 'Expected a string; send numbers as strings too.')
      if (value.length > VALUE_MAX) throw invalid(`${at}.value`, `Expected at most ${VALUE_MAX} characters.`)
      if (NOT_STORABLE.test(value)) throw invalid(`${at}.value`, 'NUL and lone surrogates are not allowed.')
      return { ...named(entry, at), required: settings.required, type: settings.type, value }
    }),
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const named = (entry: Json, path: string) => ({
  path,
  id: textOf(entry.id),
  reference: textOf(entry.reference),
})

function entriesOf(event: Json, name: string, path: string): { entry: Json; at: string }[] {
  const list = event[name]
  if (!Array.isArray(list)) return []
  if (list.length > ENTRIES_MAX)
    throw invalid(`${path}${name}`, `${list.length} entries were given and at most ${ENTRIES_MAX} are allowed.`)
  return list.map((entry, index) => {
    const at = `${path}${name}.${index}`
    if (!isObject(entry)) throw invalid(at, 'Expected a JSON object.')
    return { entry, at }
  })
}

function settingsOf<T extends string>(
  entry: Json,
  at: string,
  types: readonly T[],
): { type: T | null; required: boolean } {
  const settings = entry[SETTINGS]
  const field = `${at}.${SETTINGS}`
  if (settings === undefined || settings === null) return { type: null, required: false }
  if (!isObject(settings)) throw invalid(field, 'Expected {type, required}.')
  const unknown = Object.keys(settings).find(name => name !== 'type' && name !== 'required')
  if (unknown !== undefined) throw invalid(`${field}.${unknown}`, `${unknown} is not a field that is accepted here.`)
  const { type = null, required = null } = settings
  const known = types.find(one => one === type)
  if (type !== null && known === undefined) throw invalid(`${field}.type`, `type must be one of ${types.join(', ')}.`)
  if (required !== null && typeof required !== 'boolean')
    throw invalid(`${field}.required`, 'required is true or false.')
  return { type: known ?? null, required: required ?? false }
}

/** Whether a value of a property of this type may be this text; ENUM is judged by its list. */
export const fitsType = (type: 'NUMBER' | 'ENUM' | 'STRING', value: string): boolean =>
  type !== 'NUMBER' || isPlainDecimal(value)

function withoutSettings(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSettings)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== SETTINGS)
      .map(([name, member]) => [name, withoutSettings(member)]),
  )
}

function countKeys(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((total: number, item) => total + countKeys(item), 0)
  if (!isObject(value)) return 0
  return Object.values(value).reduce((total: number, member) => total + 1 + countKeys(member), 0)
}

/** Members in a JSON text: colons outside its strings. */
const countNames = (json: string): number => json.replace(/"(?:[^"\\]|\\.)*"/gs, '').split(':').length - 1
