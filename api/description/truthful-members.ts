// What is always in an answer is required, and what can never be null does not say that it can.
import { getTableColumns } from 'drizzle-orm'
import type { Resource } from '../resource/define-resource.ts'
import { isObject, type JsonObject, objectIn, objectsIn, textsIn } from './json.ts'

/** The shapes with the members of resources required that every answer has: those that are columns, and those computed. */
export function truthfulMembers(
  shapes: ReadonlyMap<string, JsonObject>,
  resources: readonly Resource[],
): ReadonlyMap<string, JsonObject> {
  const changed = new Map(shapes)
  for (const resource of resources) {
    const schema = changed.get(resource.shapeName)
    if (schema) changed.set(resource.shapeName, truthful(schema, resource))
  }
  return changed
}

function truthful(schema: JsonObject, resource: Resource): JsonObject {
  const columns = getTableColumns(resource.table)
  const properties = { ...objectIn(schema, 'properties') }
  const required = new Set(textsIn(schema, 'required'))
  for (const name of Object.keys(resource.fields)) {
    const column = columns[name]
    const member = properties[name]
    if (column === undefined || !isObject(member)) continue
    required.add(name)
    if (column.notNull && !resource.shownNull?.includes(name)) properties[name] = withoutNull(member)
  }
  return { ...schema, required: Object.keys(properties).filter(name => required.has(name)), properties }
}

function withoutNull(schema: JsonObject): JsonObject {
  const { type, enum: values, anyOf: _anyOf, ...rest } = schema
  const branches = objectsIn(schema, 'anyOf').filter(({ type: one }) => one !== 'null')
  const [only, ...others] = branches
  if (only) return others.length === 0 ? { ...only, ...rest } : { ...rest, anyOf: branches }
  if (!Array.isArray(type)) return schema
  const [single] = type.filter(one => one !== 'null')
  return {
    ...rest,
    type: single ?? 'string',
    ...(Array.isArray(values) ? { enum: values.filter(value => value !== null) } : {}),
  }
}
