// Examples of shapes, recorded from the fixtures of the resources (examples.it.test.ts), so that each is valid.
import { readFileSync } from 'node:fs'
import { refName } from './components.ts'
import { isObject, type Json, type JsonObject, mapObjects, objectIn, objectsIn, textIn } from './json.ts'

const isExamples = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null

function load(): JsonObject {
  const read: unknown = JSON.parse(readFileSync(new URL('./examples.json', import.meta.url), 'utf8'))
  if (!isExamples(read)) throw new Error('examples.json holds no examples')
  return read
}

/** By the name of the component. */
export const EXAMPLES: JsonObject = load()

/**
 * The shapes with their examples. That of a page is recorded without its entries, and gets the example of what it lists. A shape without
 * an example stays without one; a test finds those that operations take or answer.
 */
export function withExamples(shapes: ReadonlyMap<string, JsonObject>): [string, JsonObject][] {
  return [...shapes].map(([name, schema]) => {
    const recorded = EXAMPLES[name]
    if (recorded === undefined) return [name, schema]
    const entries = objectIn(objectIn(objectIn(schema, 'properties'), 'data'), 'items')
    const entry = EXAMPLES[refName(entries) ?? '']
    const isPage = IS_PAGE.test(name) && isObject(recorded)
    return [name, { ...schema, examples: [isPage && entry !== undefined ? { ...recorded, data: [entry] } : recorded] }]
  })
}

/** The names of shapes that list others. */
export const IS_PAGE = /(Page|List)$/

/** The example of a shape, or of what has no name: a list, one of several forms, `data` around one. */
function exampleOf(schema: JsonObject): Json | undefined {
  const name = refName(schema)
  if (name !== null) return EXAMPLES[name]
  const [form] = objectsIn(schema, 'anyOf')
  if (form) return exampleOf(form)
  if (isObject(schema.items)) {
    const item = exampleOf(schema.items)
    return item === undefined ? undefined : [item]
  }
  const { data } = objectIn(schema, 'properties')
  const list = isObject(data) ? exampleOf(data) : undefined
  return list === undefined ? undefined : { data: list }
}

/** The paths with examples beside the shapes that have no name. */
export function withInlineExamples(paths: JsonObject): JsonObject {
  const made = mapObjects(paths, object => {
    const { schema } = object
    if (!isObject(schema) || refName(schema) !== null || textIn(object, 'name') !== null) return object
    const example = exampleOf(schema)
    return example === undefined ? object : { ...object, example }
  })
  return isObject(made) ? made : paths
}
