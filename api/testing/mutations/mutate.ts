// Bodies and values that follow a schema, or differ from it in a place or two, as a seed chooses.
import { isObject, type JsonObject, objectIn } from '../../description/json.ts'
import { chance, type Random, whole } from '../../modules/billing/testing/year/random.ts'
import { NUMBERS, pickOf, TIMES, trouble } from './trouble.ts'

/** What values are made of: the named schemas of the description, and ids of things that exist. */
export type Stock = { readonly schemas: JsonObject; readonly ids: readonly string[] }

const DEPTH_MAX = 8
const PLAIN = ['1', '0.5', '10', 'EUR', 'USD', 'DE', 'Europe/Berlin', 'x']
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-01-01T00:00:00Z', '2026-02-10T12:00:00Z', '2026-02-28T23:00:00Z', '2030-01-01T00:00:00Z'],
  decimal: ['0', '1', '0.5', '10', '33.3', '100', '-1'],
  currency: ['EUR', 'EUR', 'EUR', 'USD'],
}

const resolved = (schema: JsonObject, { schemas }: Stock): JsonObject => {
  const ref = schema['$ref']
  return typeof ref === 'string' ? objectIn(schemas, ref.split('/').at(-1) ?? '') : schema
}

/** A value of the schema, or now and then one that is not. */
export function valueFrom(random: Random, given: JsonObject, stock: Stock, depth = 0): unknown {
  if (depth > DEPTH_MAX || chance(random, 0.03)) return trouble(random)
  const schema = resolved(given, stock)
  const inner = (member: unknown) => (isObject(member) ? valueFrom(random, member, stock, depth + 1) : null)
  const choices = ['anyOf', 'oneOf', 'allOf'].map(name => schema[name]).find(Array.isArray)
  if (choices) return inner(pickOf(random, choices))
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return pickOf(random, schema['enum'])
  const type = Array.isArray(schema['type']) ? pickOf(random, schema['type']) : schema['type']
  switch (type) {
    case 'object': {
      const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
      const members = Object.entries(objectIn(schema, 'properties'))
      const kept = members.filter(([name]) => required.includes(name) || chance(random, 0.3))
      return Object.fromEntries(kept.map(([name, member]) => [name, inner(member)]))
    }
    case 'array':
      return Array.from({ length: whole(random, 0, 2) }, () => inner(schema['items']))
    case 'integer':
    case 'number':
      return pickOf(random, [0, 1, 2, 3, 12, 31, 100, -1])
    case 'boolean':
      return chance(random, 0.5)
    case 'null':
      return null
    default:
      return textOf(random, schema, stock)
  }
}

function textOf(random: Random, { format }: JsonObject, { ids }: Stock): unknown {
  const known = typeof format === 'string' ? FORMATS[format] : undefined
  if (known) return pickOf(random, chance(random, 0.8) ? known : [...TIMES, ...NUMBERS])
  return pickOf(random, chance(random, 0.6) && ids.length > 0 ? ids : [...PLAIN, ...NUMBERS])
}

/** The body with one place changed: replaced, left out, doubled, or with one more member that the schema has. */
export function mutated(random: Random, body: unknown, schema: JsonObject, stock: Stock): unknown {
  const known = pickOf(random, Object.entries(objectIn(resolved(schema, stock), 'properties')))
  if (known && chance(random, 0.5)) {
    const [name, member] = known
    return { ...(isObject(body) ? body : {}), [name]: isObject(member) ? valueFrom(random, member, stock) : null }
  }
  const place = pickOf(random, placesIn(body)) ?? []
  if (place.length > 0 && chance(random, 0.2))
    return changed(body, place.slice(0, -1), old => doubledOrWithout(old, String(place.at(-1))))
  return changed(body, place, () => (chance(random, 0.3) ? pickOf(random, stock.ids) : trouble(random)))
}

type Place = readonly (string | number)[]

function placesIn(value: unknown, at: Place = []): Place[] {
  const members = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : []
  return [at, ...members.flatMap(([name, member]) => placesIn(member, [...at, name]))]
}

function changed(value: unknown, [first, ...rest]: Place, change: (old: unknown) => unknown): unknown {
  if (first === undefined) return change(value)
  if (Array.isArray(value)) return value.map((each, at) => (at === first ? changed(each, rest, change) : each))
  const object = isObject(value) ? value : {}
  return { ...object, [first]: changed(object[first], rest, change) }
}

function doubledOrWithout(old: unknown, name: string): unknown {
  if (Array.isArray(old)) return [...old, ...old]
  return isObject(old) ? Object.fromEntries(Object.entries(old).filter(([each]) => each !== name)) : old
}
