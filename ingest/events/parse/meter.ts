// An active meter as the gateway sees it: what an event may carry, and what it must.

export type MeterValue = {
  readonly id: string
  readonly reference: string
  readonly type: 'NUMBER' | 'AMOUNT'
  readonly required: boolean
}

export type MeterProperty = {
  readonly id: string
  readonly reference: string
  readonly type: 'NUMBER' | 'ENUM' | 'STRING'
  readonly enumValues: ReadonlySet<string>
  readonly required: boolean
}

export type Meter = {
  readonly id: string
  readonly reference: string
  readonly values: readonly MeterValue[]
  readonly properties: readonly MeterProperty[]
  /** Place in `values` and `properties` by id; references have maps of their own, so neither can be taken for the other. */
  readonly valueById: ReadonlyMap<string, number>
  readonly valueByReference: ReadonlyMap<string, number>
  readonly propertyById: ReadonlyMap<string, number>
  readonly propertyByReference: ReadonlyMap<string, number>
  /** Whether all references are printable ASCII that needs no escape in JSON. */
  readonly plain: boolean
  /** References as JSON strings. */
  readonly quoted: string
  readonly valueQuoted: readonly string[]
  readonly propertyQuoted: readonly string[]
  /** Places in `properties` in the order the members of an object have: those that look like array indexes come first. */
  readonly propertyOrder: readonly number[]
  /** JSON members that name the meter, and each of its values and properties, in an answer. */
  readonly keys: string
  readonly valueKeys: readonly string[]
  readonly propertyKeys: readonly string[]
}

/** The active meters of one tenant. */
export type MeterSet = {
  readonly byId: ReadonlyMap<string, Meter>
  readonly byReference: ReadonlyMap<string, Meter>
}

export const NO_METERS: MeterSet = { byId: new Map(), byReference: new Map() }

const placesBy = <T>(list: readonly T[], key: (entry: T) => string): Map<string, number> =>
  new Map(list.map((entry, place) => [key(entry), place]))

// Kept as JSON.stringify has it, so that the content of an event has one hash whichever process encodes it.
function memberOrder(references: readonly string[]): number[] {
  const index = (reference: string): number =>
    /^(?:0|[1-9][0-9]{0,9})$/.test(reference) ? Number(reference) : Infinity
  return references
    .map((reference, place) => ({ place, at: index(reference) < 2 ** 32 - 1 ? index(reference) : Infinity }))
    .sort((a, b) => (a.at === b.at ? a.place - b.place : a.at - b.at))
    .map(({ place }) => place)
}

const PLAIN = /^[ !#-[\]-~]*$/
const keysOf = (entry: { id: string; reference: string }): string =>
  `"id":${JSON.stringify(entry.id)},"reference":${JSON.stringify(entry.reference)}`

/** A meter with its lookups and what is written about it again and again. */
export function createMeter(parts: Pick<Meter, 'id' | 'reference' | 'values' | 'properties'>): Meter {
  return {
    ...parts,
    valueById: placesBy(parts.values, value => value.id),
    valueByReference: placesBy(parts.values, value => value.reference),
    propertyById: placesBy(parts.properties, property => property.id),
    propertyByReference: placesBy(parts.properties, property => property.reference),
    plain: [parts, ...parts.values, ...parts.properties].every(({ reference }) => PLAIN.test(reference)),
    quoted: JSON.stringify(parts.reference),
    valueQuoted: parts.values.map(value => JSON.stringify(value.reference)),
    propertyQuoted: parts.properties.map(property => JSON.stringify(property.reference)),
    propertyOrder: memberOrder(parts.properties.map(property => property.reference)),
    keys: `"meter_id":${JSON.stringify(parts.id)},"meter_reference":${JSON.stringify(parts.reference)}`,
    valueKeys: parts.values.map(keysOf),
    propertyKeys: parts.properties.map(keysOf),
  }
}

export function createMeterSet(meters: Iterable<Meter>): MeterSet {
  const list = [...meters]
  return {
    byId: new Map(list.map(meter => [meter.id, meter])),
    byReference: new Map(list.map(meter => [meter.reference, meter])),
  }
}
