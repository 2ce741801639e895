// Every object of the description is one named component that others refer to: a generated client gets one class for each.
import { withoutCondition } from '../http/body/conditions.ts'
import { DESCRIBED_AS } from '../resource/shapes.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  mapObjects,
  objectIn,
  objectsIn,
  pick,
  shapeText,
  textIn,
  textsIn,
} from './json.ts'
import { baseOf, nameEverywhere, namesFor, type Place, singular } from './names/names.ts'

const NULL: JsonObject = { type: 'null' }

export type Components = {
  /** The schema with every object in it replaced by a reference to its component. */
  readonly refer: (schema: JsonObject, place: Place) => JsonObject
  /** The name of the component that a reference names; null for any other schema. */
  readonly nameOf: (schema: JsonObject) => string | null
  readonly all: () => ReadonlyMap<string, JsonObject>
}

export const refTo = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
export const refName = (schema: JsonObject): string | null =>
  textIn(schema, '$ref')?.replace(/^#\/components\/schemas\//, '') ?? null

/** An empty set of components. `refer` throws when two shapes of one title contradict each other, or a shape finds no name. */
export function createComponents(): Components {
  const byName = new Map<string, JsonObject>()
  const byShape = new Map<string, string>()
  /** Titles of the shapes being read now: one inside itself is a recursion, written out to a fixed depth. */
  const open: string[] = []

  const register = (schema: JsonObject, names: readonly string[], title: string | null): string => {
    const shape = shapeText(schema)
    const known = byShape.get(shape)
    if (known !== undefined && (title === null || title === known)) return known
    const name = title ?? names.find(each => !byName.has(each))
    if (name === undefined) throw new Error(`give this shape a title; ${names.join(', ')} are taken`)
    const earlier = byName.get(name)
    byName.set(name, earlier ? merged(name, earlier, schema) : schema)
    byShape.set(shape, name)
    return name
  }

  const referObject = (schema: JsonObject, place: Place): JsonObject => {
    const title = nameEverywhere(schema)
    const described = schema['description'] === undefined ? {} : { description: schema['description'] }
    if (title !== null && (open.includes(title) || (!('title' in schema) && byName.has(title)))) {
      return { ...refTo(title), ...described }
    }
    if (title !== null) open.push(title)
    const below: Place = title === null ? place : { root: baseOf(title), base: baseOf(title), path: [] }
    const properties = Object.entries(objectIn(schema, 'properties')).map(([name, member]): [string, Json] => {
      const isArray = isObject(member) && holdsList(member)
      const path = [...below.path, isArray ? singular(name) : name]
      return [name, isObject(member) ? refer(member, { ...below, path }) : {}]
    })
    if (title !== null) open.pop()
    // What a condition says of an object stands in its text.
    const { description: _description, title: _title, ...rest } = withoutCondition(schema)
    const own = { ...rest, properties: Object.fromEntries(properties) }
    return { ...refTo(register(own, namesFor(schema, place), title)), ...described }
  }

  const refer = (given: JsonObject, place: Place): JsonObject => {
    const schema = isObject(given[DESCRIBED_AS]) ? { ...given[DESCRIBED_AS], ...pick(given, isText) } : given
    const branches = objectsIn(schema, 'anyOf')
    if (branches.length > 0) return referUnion(schema, branches, place)
    if (schema['type'] === 'array') return { ...schema, items: refer(objectIn(schema, 'items'), place) }
    if (Object.keys(objectIn(schema, 'properties')).length > 0) return referObject(schema, place)
    return typed(withoutEmpty(schema))
  }

  const referUnion = (schema: JsonObject, branches: readonly JsonObject[], place: Place): JsonObject => {
    const { anyOf: _anyOf, ...about } = schema
    const others = branches.filter(({ type }) => type !== 'null').map(each => refer(each, place))
    const [only] = others
    if (only === undefined || others.length > 1) {
      return { ...about, anyOf: others.length === branches.length ? others : [...others, NULL] }
    }
    return { ...orNull(only), ...about }
  }

  return { refer, nameOf: refName, all: () => byName }
}

/** Two views of one thing: what only one of them has is optional, what one may leave empty may be null. */
function merged(name: string, a: JsonObject, b: JsonObject): JsonObject {
  const [first, second] = [objectIn(a, 'properties'), objectIn(b, 'properties')]
  const both = Object.keys(first).flatMap((member): [string, JsonObject][] =>
    second[member] === undefined
      ? []
      : [[member, wider(`${name}.${member}`, objectIn(first, member), objectIn(second, member))]],
  )
  const required = textsIn(a, 'required').filter(member => textsIn(b, 'required').includes(member))
  return { ...a, required, properties: { ...first, ...second, ...Object.fromEntries(both) } }
}

/** The one of two shapes that takes what the other does. Throws where neither is. */
function wider(member: string, a: JsonObject, b: JsonObject): JsonObject {
  const [looseA, looseB] = [unbounded(a), unbounded(b)]
  const [first, second] = [shapeText(looseA), shapeText(looseB)]
  if (first === second) return shapeText(a) === shapeText(b) ? a : looseA
  if (first === shapeText(orNull(looseB))) return looseA
  if (second === shapeText(orNull(looseA))) return looseB
  throw new Error(`two shapes of one title contradict each other in ${member}: ${first} and ${second}`)
}

const BOUNDS = new Set([
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'uniqueItems',
  'pattern',
])

/** Without the bounds that hold for requests alone. */
const unbounded = (schema: JsonObject): JsonObject => {
  const open = mapObjects(schema, object => ('type' in object ? pick(object, name => !BOUNDS.has(name)) : object))
  return isObject(open) ? open : schema
}

const holdsList = (schema: JsonObject): boolean =>
  schema['type'] === 'array' || objectsIn(schema, 'anyOf').some(({ type }) => type === 'array')

const isText = (name: string): boolean => name === 'description'

/** The schema, or null. */
export function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values, description } = schema
  if (typeof type !== 'string') {
    const { description: _description, ...rest } = schema
    return { anyOf: [rest, NULL], ...(description === undefined ? {} : { description }) }
  }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }
}

/** An object without members of its own holds anything. */
const withoutEmpty = (schema: JsonObject): JsonObject =>
  schema.properties === undefined ? schema : pick(schema, name => name !== 'properties')

/** A list of texts to choose from says that they are texts. */
const typed = (schema: JsonObject): JsonObject =>
  Array.isArray(schema['enum']) && schema['type'] === undefined ? { type: 'string', ...schema } : schema
