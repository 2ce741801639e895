// The values and properties of an event against what its meter lists.

import { isCurrency } from '../../../shared/codes/iso-codes.ts'
import { isPlainDecimal } from '../../../shared/decimal.ts'
import type { Meter, MeterValue } from './meter.ts'
import { type JsonObject, type Reading, readList, readObject, readReference, readText } from './reading.ts'

/** One value of an event; the currency of a NUMBER is ''. */
export type MeasuredValue = { readonly quantity: string; readonly currency: string }

const VALUE_FIELDS = new Set(['id', 'reference', 'number', 'amount'])
const PROPERTY_FIELDS = new Set(['id', 'reference', 'value'])
const AMOUNT_FIELDS = new Set(['quantity', 'currency'])

type Places = { readonly byId: ReadonlyMap<string, number>; readonly byReference: ReadonlyMap<string, number> }

/** The event's values in the order of meter.values. Refuses unlisted, repeated, mistyped and missing required ones. */
export function readMeterValues(list: unknown, meter: Meter, reading: Reading): (MeasuredValue | null)[] {
  const found = new Array<MeasuredValue | null>(meter.values.length).fill(null)
  const places = { byId: meter.valueById, byReference: meter.valueByReference }
  const entries = readList(list, 'meter_values', ENTRIES_MAX, reading)
  reading.list = 'meter_values'
  for (reading.entry = 0; reading.entry < entries.length; reading.entry += 1) {
    const entry = readObject(entries[reading.entry], VALUE_FIELDS, reading)
    const place = readPlace(entry, places, meter, reading)
    if (found[place] !== null) reading.refuse('INVALID_FIELD', nameOf(entry), 'This value is given twice.')
    found[place] = readMeasure(entry, meter.values[place], reading)
  }
  reading.list = ''
  for (let place = 0; place < found.length; place += 1) {
    const value = meter.values[place]
    if (found[place] === null && value?.required) {
      reading.refuse(
        'MISSING_FIELD',
        'meter_values',
        `The meter requires a value for ${JSON.stringify(value.reference)}.`,
      )
    }
  }
  return found
}

/** The event's properties in the order of meter.properties. Refuses as readMeterValues does, and unlisted ENUM values. */
export function readMeterProperties(list: unknown, meter: Meter, reading: Reading): (string | null)[] {
  const found = new Array<string | null>(meter.properties.length).fill(null)
  const places = { byId: meter.propertyById, byReference: meter.propertyByReference }
  const entries = readList(list, 'meter_properties', ENTRIES_MAX, reading)
  reading.list = 'meter_properties'
  for (reading.entry = 0; reading.entry < entries.length; reading.entry += 1) {
    const entry = readObject(entries[reading.entry], PROPERTY_FIELDS, reading)
    const place = readPlace(entry, places, meter, reading)
    if (found[place] !== null) reading.refuse('INVALID_FIELD', nameOf(entry), 'This property is given twice.')
    const text = readText(entry['value'], 'value', reading)
    const property = meter.properties[place]
    if (property?.type === 'NUMBER' && !isPlainDecimal(text)) refuseDecimal('value', reading)
    if (property?.type === 'ENUM' && !property.enumValues.has(text)) {
      reading.refuse('INVALID_FIELD', 'value', `${JSON.stringify(property.reference)} does not list this value.`)
    }
    found[place] = text
  }
  reading.list = ''
  for (let place = 0; place < found.length; place += 1) {
    const property = meter.properties[place]
    if (found[place] === null && property?.required) {
      reading.refuse(
        'MISSING_FIELD',
        'meter_properties',
        `The meter requires the property ${JSON.stringify(property.reference)}.`,
      )
    }
  }
  return found
}

/** More entries than any meter lists are refused before they are read one by one. */
const ENTRIES_MAX = 1_000

const nameOf = (entry: JsonObject): string => (typeof entry['reference'] === 'string' ? 'reference' : 'id')

function readPlace(entry: JsonObject, places: Places, meter: Meter, reading: Reading): number {
  const id = readReference(entry['id'], 'id', reading)
  const reference = readReference(entry['reference'], 'reference', reading)
  if (id === null && reference === null)
    return reading.refuse('MISSING_FIELD', 'reference', 'reference or id is required.')
  const place = reference === null ? places.byId.get(id ?? '') : places.byReference.get(reference)
  if (place === undefined) {
    return reading.refuse(
      'INVALID_FIELD',
      reference === null ? 'id' : 'reference',
      `The meter ${JSON.stringify(meter.reference)} does not list ${JSON.stringify(reference ?? id)}.`,
    )
  }
  if (id !== null && places.byId.get(id) !== place) {
    return reading.refuse('INVALID_FIELD', 'id', 'id and reference name different entries of the meter.')
  }
  return place
}

function readMeasure(entry: JsonObject, value: MeterValue | undefined, reading: Reading): MeasuredValue {
  const { number, amount } = entry
  if (value?.type === 'AMOUNT') {
    if (number !== undefined && number !== null) {
      reading.refuse(
        'INVALID_FIELD',
        'number',
        `${JSON.stringify(value.reference)} is an amount: send amount {quantity, currency}.`,
      )
    }
    if (amount === undefined || amount === null) return reading.refuse('MISSING_FIELD', 'amount', 'amount is required.')
    reading.inner = 'amount.'
    const { quantity, currency } = readObject(amount, AMOUNT_FIELDS, reading)
    const measured = { quantity: readDecimal(quantity, 'quantity', reading), currency: readCurrency(currency, reading) }
    reading.inner = ''
    return measured
  }
  if (amount !== undefined && amount !== null) {
    reading.refuse('INVALID_FIELD', 'amount', `${JSON.stringify(value?.reference)} is a number: send number.`)
  }
  return { quantity: readDecimal(number, 'number', reading), currency: '' }
}

function readDecimal(value: unknown, name: string, reading: Reading): string {
  if (typeof value === 'string' && isPlainDecimal(value)) return value
  if (value === undefined || value === null) return reading.refuse('MISSING_FIELD', name, `${name} is required.`)
  return refuseDecimal(name, reading)
}

const refuseDecimal = (name: string, reading: Reading): never =>
  reading.refuse(
    'INVALID_FIELD',
    name,
    'Expected a decimal number as a string, such as "12.5": at most 26 digits before the point and 12 after it.',
  )

function readCurrency(value: unknown, reading: Reading): string {
  if (typeof value === 'string' && isCurrency(value)) return value
  return reading.refuse('INVALID_FIELD', 'currency', 'Expected a currency of ISO 4217, such as EUR.')
}
