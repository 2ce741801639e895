// What an event is said to have measured, against what its meter lists: the rules of the gateway, for a correction. Pure.
import { decimal, isPlainDecimal, plain } from '../../../../shared/decimal.ts'
import { AppError, type ErrorCode } from '../../../../shared/errors.ts'
import type { Measured } from '../../../usage/amendments.ts'

/** What a meter lists, whatever its status: usage of the past is corrected by the meter as it is. */
export type MeterEntries = {
  readonly reference: string
  readonly values: readonly {
    readonly id: string
    readonly reference: string
    readonly type: 'NUMBER' | 'AMOUNT'
    readonly required: boolean
  }[]
  readonly properties: readonly {
    readonly id: string
    readonly reference: string
    readonly type: 'NUMBER' | 'ENUM' | 'STRING'
    readonly enumValues: readonly string[]
    readonly required: boolean
  }[]
}

type Named = { readonly id?: string | null; readonly reference?: string | null }
export type ValueInput = Named & {
  readonly number?: string | null
  readonly amount?: { readonly quantity: string; readonly currency: string } | null
}
export type PropertyInput = Named & { readonly value: string }

/** Longest value of a meter property, in characters; as at the gateway. */
const PROPERTY_VALUE_MAX = 1_000
const NOT_STORABLE = /[\0\p{Cs}]/u

/** The values of an event in the meter's order. Refuses unlisted, repeated, mistyped and missing required ones. */
export function readValues(list: readonly ValueInput[], meter: MeterEntries): Measured['values'] {
  const found = readEntries(list, { field: 'meter_values', entries: meter.values, meter: meter.reference }, measureOf)
  return found.map(([{ reference }, measure]) => ({ reference, ...measure }))
}

/** The properties of an event in the meter's order. Refuses as readValues does, and unlisted ENUM values. */
export function readProperties(list: readonly PropertyInput[], meter: MeterEntries): Measured['properties'] {
  const of = { field: 'meter_properties', entries: meter.properties, meter: meter.reference }
  const found = readEntries(list, of, propertyOf)
  return Object.fromEntries(found.map(([{ reference }, value]) => [reference, value]))
}

const DECIMAL_HELP =
  'Expected a decimal number as a string, such as "12.5": at most 26 digits before the point and 12 after it.'

const refusal = (code: ErrorCode, field: string, message: string): AppError => new AppError(code, message, { field })

type Listed = { readonly id: string; readonly reference: string; readonly required: boolean }

/** What was given for each entry of the meter, in the meter's order; the first fault in the order of the list is refused. */
function readEntries<Given extends Named, Entry extends Listed, Read>(
  list: readonly Given[],
  of: { readonly field: string; readonly entries: readonly Entry[]; readonly meter: string },
  read: (given: Given, entry: Entry, at: string) => Read,
): (readonly [Entry, Read])[] {
  const found = new Map<string, Read>()
  for (const [index, given] of list.entries()) {
    const at = `${of.field}.${index}`
    const entry = entryOf(given, of, at)
    const named = typeof given.reference === 'string' ? 'reference' : 'id'
    if (found.has(entry.id)) throw refusal('INVALID_FIELD', `${at}.${named}`, 'This entry is given twice.')
    found.set(entry.id, read(given, entry, at))
  }
  return of.entries.flatMap(entry => {
    const value = found.get(entry.id)
    if (value !== undefined) return [[entry, value] as const]
    if (!entry.required) return []
    throw refusal('MISSING_FIELD', of.field, `The meter requires ${JSON.stringify(entry.reference)}.`)
  })
}

function entryOf<Entry extends Listed>(
  { id = null, reference = null }: Named,
  of: { readonly entries: readonly Entry[]; readonly meter: string },
  at: string,
): Entry {
  if (id === null && reference === null)
    throw refusal('MISSING_FIELD', `${at}.reference`, 'reference or id is required.')
  const entry = of.entries.find(one => (reference === null ? one.id === id : one.reference === reference))
  if (entry === undefined) {
    const message = `The meter ${JSON.stringify(of.meter)} does not list ${JSON.stringify(reference ?? id)}.`
    throw refusal('INVALID_FIELD', `${at}.${reference === null ? 'id' : 'reference'}`, message)
  }
  if (id !== null && entry.id !== id)
    throw refusal('INVALID_FIELD', `${at}.id`, 'id and reference name different entries of the meter.')
  return entry
}

function propertyOf({ value }: PropertyInput, property: MeterEntries['properties'][number], at: string): string {
  const field = `${at}.value`
  if (value.length > PROPERTY_VALUE_MAX)
    throw refusal('INVALID_FIELD', field, `Expected at most ${PROPERTY_VALUE_MAX} characters.`)
  if (NOT_STORABLE.test(value)) throw refusal('INVALID_FIELD', field, 'NUL and lone surrogates are not allowed.')
  if (property.type === 'NUMBER' && !isPlainDecimal(value)) throw refusal('INVALID_FIELD', field, DECIMAL_HELP)
  if (property.type === 'ENUM' && !property.enumValues.includes(value))
    throw refusal('INVALID_FIELD', field, `${JSON.stringify(property.reference)} does not list this value.`)
  return value
}

function measureOf(entry: ValueInput, value: MeterEntries['values'][number], at: string) {
  const { number = null, amount = null } = entry
  const name = JSON.stringify(value.reference)
  if (value.type === 'AMOUNT') {
    if (number !== null)
      throw refusal('INVALID_FIELD', `${at}.number`, `${name} is an amount: send amount {quantity, currency}.`)
    if (amount === null) throw refusal('MISSING_FIELD', `${at}.amount`, 'amount is required.')
    return { quantity: plain(decimal(amount.quantity)), currency: amount.currency }
  }
  if (amount !== null) throw refusal('INVALID_FIELD', `${at}.amount`, `${name} is a number: send number.`)
  if (number === null) throw refusal('MISSING_FIELD', `${at}.number`, 'number is required.')
  return { quantity: plain(decimal(number)), currency: '' }
}
