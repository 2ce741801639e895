// What `expand[]` includes has the shape of the resource it is: `Included` says which, and so does an expansion of a resource.
import type { Expansion, Resource } from '../resource/define-resource.ts'
import { INCLUDES } from '../resource/shapes.ts'
import { refTo } from './components.ts'
import { isObject, type JsonObject, objectIn, textsIn } from './json.ts'

/** The shape of every refusal, which is published beside the others. */
const REFUSAL = 'Error'

/** The shapes with references in place of what they include. Throws for a resource of no published shape. */
export function expandedReferences(
  shapes: ReadonlyMap<string, JsonObject>,
  resources: readonly Resource[],
): ReadonlyMap<string, JsonObject> {
  const targets = targetsOf(resources)
  const refsOf = (schema: JsonObject): JsonObject[] =>
    textsIn(schema, INCLUDES).map(given => {
      const shape = targets.get(given) ?? given
      if (shape !== REFUSAL && !shapes.has(shape)) throw new Error(`there is no shape ${given}, which another includes`)
      return refTo(shape)
    })
  const change = (schema: JsonObject): JsonObject => {
    const properties = Object.entries(objectIn(schema, 'properties')).map(([name, member]): [string, JsonObject] => {
      const given = isObject(member) ? member : {}
      return [name, including(given, name, refsOf)]
    })
    return { ...schema, properties: Object.fromEntries(properties) }
  }
  return new Map([...shapes].map(([name, schema]) => [name, change(schema)]))
}

/** By `OBJECT_TYPE.member` the shape that a resource includes there. */
function targetsOf(resources: readonly Resource[]): ReadonlyMap<string, string> {
  const byType = new Map(resources.map(resource => [resource.objectType, resource.shapeName]))
  const shapeOf = ({ to }: Expansion) => (typeof to === 'function' ? to().shapeName : (byType.get(to) ?? to))
  return new Map(
    resources.flatMap(({ objectType, expand = {} }) =>
      Object.entries(expand).map(([name, expansion]): [string, string] => [
        `${objectType}.${name}`,
        shapeOf(expansion),
      ]),
    ),
  )
}

type RefsOf = (schema: JsonObject) => readonly JsonObject[]

function including(schema: JsonObject, name: string, refsOf: RefsOf): JsonObject {
  const description = schema['description'] ?? `Included by \`expand[]=${name}\`.`
  const refs = refsOf(schema)
  const [only] = refs
  if (only !== undefined) {
    if (schema['type'] !== 'object') return { anyOf: [...refs, { type: 'null' }], description }
    return refs.length === 1 ? { ...only, description } : { anyOf: [...refs], description }
  }
  const items = refsOf(objectIn(schema, 'items'))
  const [item] = items
  const { type } = schema
  if (item === undefined || type === undefined) return schema
  return { type, items: items.length === 1 ? item : { anyOf: [...items] }, description }
}
