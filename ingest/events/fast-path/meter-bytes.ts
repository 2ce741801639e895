// A meter as bytes: its references to be found in a body, and the shapes of what is written of its events.
import { createMeter, type Meter, type MeterProperty, type MeterValue } from '../parse/meter.ts'
import { AsciiText } from './bytes.ts'
import { ENTRIES_MAX, type Shape, shapeOf } from './shape.ts'

export type MeterBytes = {
  readonly meter: Meter
  readonly reference: AsciiText
  readonly values: readonly { readonly reference: AsciiText; readonly value: MeterValue }[]
  readonly properties: readonly { readonly reference: AsciiText; readonly property: MeterProperty }[]
  /**
   * By which entries an event has: bit by bit its values, then its properties, then whether it names its customer by id.
   * Made when they are first met.
   */
  readonly shapes: Map<number, Shape>
}

/** Shapes kept of a meter; a sender that uses more of them than this makes them anew. */
const SHAPES_MAX = 64

/** The bytes of a meter; null when one of its references is not plain or it lists too much: parse.ts reads its events. */
export function meterBytes(meter: Meter): MeterBytes | null {
  if (!meter.plain || meter.values.length + meter.properties.length > ENTRIES_MAX) return null
  return {
    meter,
    reference: new AsciiText(meter.reference),
    values: meter.values.map(value => ({ reference: new AsciiText(value.reference), value })),
    properties: meter.properties.map(property => ({ reference: new AsciiText(property.reference), property })),
    shapes: new Map(),
  }
}

/** Stands for a meter where there is none yet; no event names it. */
export const NO_METER: MeterBytes = {
  meter: createMeter({ id: '', reference: '', values: [], properties: [] }),
  reference: new AsciiText(''),
  values: [],
  properties: [],
  shapes: new Map(),
}

/** The shape of an event that has the entries of `mask`. */
export function shapeFor({ meter, shapes }: MeterBytes, mask: number): Shape {
  const known = shapes.get(mask)
  if (known !== undefined) return known
  if (shapes.size >= SHAPES_MAX) shapes.clear()
  const has = (bit: number): boolean => (mask & (1 << bit)) !== 0
  const { length } = meter.values
  const shape = shapeOf(meter, {
    values: meter.values.map((_, place) => has(place)),
    properties: meter.properties.map((_, place) => has(length + place)),
    customerField: has(length + meter.properties.length) ? 'customer_id' : 'customer_reference',
  })
  shapes.set(mask, shape)
  return shape
}
