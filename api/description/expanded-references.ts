// What `expand[]` includes has the shape of the resource it is.
import type { Resource } from '../resource/define-resource.ts'
import { refTo } from './components.ts'
import { isObject, type JsonObject, objectIn, textsIn } from './json.ts'
import { pascal, singular } from './names/names.ts'

/** Members that are called otherwise than the resource they include. */
const CALLED: Readonly<Record<string, string>> = {
  default_billing_entity: 'BillingEntity',
  category: 'ProductCategory',
}

/** Shapes whose members are named like resources and are entries of a file, which name others by reference. */
const OF_FILES: ReadonlySet<string> = new Set(['CatalogVersion'])

/** The shapes with every object of any content that is named after a resource a reference to its shape. */
export function expandedReferences(
  shapes: ReadonlyMap<string, JsonObject>,
  resources: readonly Resource[],
): ReadonlyMap<string, JsonObject> {
  const known = new Set(resources.map(({ shapeName }) => shapeName).filter(name => shapes.has(name)))
  const change = (schema: JsonObject): JsonObject => {
    const properties = Object.entries(objectIn(schema, 'properties')).map(([name, member]): [string, JsonObject] => {
      const target = CALLED[name] ?? pascal(singular(name))
      const given = isObject(member) ? member : {}
      return [name, known.has(target) ? including(given, name, target) : given]
    })
    return { ...schema, properties: Object.fromEntries(properties) }
  }
  return new Map([...shapes].map(([name, schema]) => [name, OF_FILES.has(name) ? schema : change(schema)]))
}

function including(schema: JsonObject, name: string, target: string): JsonObject {
  const description = schema['description'] ?? `Included by \`expand[]=${name}\`.`
  if (isAny(schema)) {
    const isAlways = schema['type'] === 'object'
    return isAlways ? { ...refTo(target), description } : { anyOf: [refTo(target), { type: 'null' }], description }
  }
  const { type } = schema
  const isList = (type === 'array' || textsIn(schema, 'type').includes('array')) && isAny(objectIn(schema, 'items'))
  return isList && type !== undefined ? { type, items: refTo(target), description } : schema
}

/** An object that may hold anything. */
const isAny = (schema: JsonObject): boolean =>
  schema['additionalProperties'] === true && Object.keys(objectIn(schema, 'properties')).length === 0
