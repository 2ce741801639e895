// What is written of an event once its meter is known, and which of the meter's values and properties it has: always the
// same pieces of text with what was sent between them. A line and an answer are so written in a dozen copies.
import { RECEIVED_ZERO } from '../../../shared/contracts/usage-event.ts'
import type { Meter } from '../parse/meter.ts'
import { AsciiText } from './bytes.ts'

/** What was sent, or made of it, by number; those of values and properties follow. */
export const ID_HASH = 0
export const REFERENCE = 1
export const CUSTOMER = 2
export const WIRE_TIME = 3
export const TIMESTAMP = 4
export const CREATED_AT = 5
const FIRST_ENTRY = 6

/** Values and properties of a meter together that this can tell apart. */
export const ENTRIES_MAX = 24
export const SLOTS_MAX = FIRST_ENTRY + 2 * ENTRIES_MAX

export const quantitySlot = (place: number): number => FIRST_ENTRY + 2 * place
export const currencySlot = (place: number): number => FIRST_ENTRY + 2 * place + 1
export const propertySlot = (values: number, place: number): number => FIRST_ENTRY + 2 * values + place

/** A piece, and then, again and again, a slot and a piece. */
export type Template = { readonly first: AsciiText; readonly slots: Int32Array; readonly pieces: readonly AsciiText[] }

export type Shape = {
  /** A line from its reference on, with RECEIVED_ZERO where the time it arrived is put. */
  readonly line: Template
  readonly view: Template
  /** Bytes of the longer of the two without what is in the slots. */
  readonly bytes: number
}

/** Which entries of its meter an event has, by place, and by which field it names its customer. */
export type PresentEntries = {
  readonly values: readonly boolean[]
  readonly properties: readonly boolean[]
  readonly customerField: 'customer_id' | 'customer_reference'
}

/** The shape of events of a meter whose references need no escape. */
export function shapeOf(meter: Meter, present: PresentEntries): Shape {
  const line = templateOf(lineParts(meter, present))
  const view = templateOf(viewParts(meter, present))
  return { line, view, bytes: Math.max(lengthOf(line), lengthOf(view)) }
}

/** A text, or the number of a slot. */
type Part = string | number

const between = (lists: readonly (readonly Part[])[]): Part[] =>
  lists.flatMap((list, place) => (place === 0 ? list : [',', ...list]))

// As encode.ts writes it; a test holds the two together.
function lineParts(meter: Meter, present: PresentEntries): Part[] {
  const values = meter.values.map((value, place) => ({ value, place })).filter(({ place }) => present.values[place])
  const properties = meter.propertyOrder.filter(place => present.properties[place])
  const currency = (place: number, type: string): Part[] =>
    type === 'AMOUNT' ? ['"', currencySlot(place), '"'] : ['""']
  return [
    REFERENCE,
    '","',
    CUSTOMER,
    `",${meter.quoted},"`,
    WIRE_TIME,
    `","${RECEIVED_ZERO}",[`,
    ...between(values.map(({ place }) => [meter.valueQuoted[place] ?? ''])),
    '],[',
    ...between(values.map(({ place }) => ['"', quantitySlot(place), '"'])),
    '],[',
    ...between(values.map(({ value, place }) => currency(place, value.type))),
    '],{',
    ...between(
      properties.map(place => [`${meter.propertyQuoted[place]}:"`, propertySlot(meter.values.length, place), '"']),
    ),
    '},""]',
  ]
}

function viewParts(meter: Meter, present: PresentEntries): Part[] {
  const values = meter.values.map((value, place) => ({ value, place })).filter(({ place }) => present.values[place])
  const properties = meter.properties.map((_, place) => place).filter(place => present.properties[place])
  const measure = (place: number, type: string): Part[] =>
    type === 'AMOUNT'
      ? ['"amount":{"quantity":"', quantitySlot(place), '","currency":"', currencySlot(place), '"}']
      : ['"number":"', quantitySlot(place), '"']
  return [
    '{"object_type":"METER_DATA","id":"meda_',
    ID_HASH,
    '","reference":"',
    REFERENCE,
    `","type":"INGEST","${present.customerField}":"`,
    CUSTOMER,
    `",${meter.keys},"timestamp":"`,
    TIMESTAMP,
    '","created_at":"',
    CREATED_AT,
    '","meter_properties":[',
    ...between(
      properties.map(place => [
        `{${meter.propertyKeys[place]},"value":"`,
        propertySlot(meter.values.length, place),
        '"}',
      ]),
    ),
    '],"meter_values":[',
    ...between(values.map(({ value, place }) => [`{${meter.valueKeys[place]},`, ...measure(place, value.type), '}'])),
    ']}',
  ]
}

function templateOf(parts: readonly Part[]): Template {
  const texts = ['']
  const slots: number[] = []
  for (const part of parts) {
    if (typeof part === 'number') {
      slots.push(part)
      texts.push('')
    } else {
      texts.push(`${texts.pop() ?? ''}${part}`)
    }
  }
  const [first = '', ...rest] = texts
  return { first: new AsciiText(first), slots: Int32Array.from(slots), pieces: rest.map(text => new AsciiText(text)) }
}

const lengthOf = ({ first, pieces }: Template): number => pieces.reduce((sum, { length }) => sum + length, first.length)
