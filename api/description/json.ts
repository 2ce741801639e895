// The API description as plain JSON: every step takes one document and gives another.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json | undefined }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isList = (value: unknown): value is readonly Json[] => Array.isArray(value)

/** The member as an object; an empty one when it is absent or something else. */
export const objectIn = (holder: JsonObject | undefined, name: string): JsonObject => {
  const value = holder?.[name]
  return isObject(value) ? value : {}
}
/** The member as a list of objects; what is none is left out. */
export const objectsIn = (holder: JsonObject | undefined, name: string): readonly JsonObject[] => {
  const value = holder?.[name]
  return isList(value) ? value.filter(isObject) : []
}
/** The member as a list of texts; what is none is left out. */
export const textsIn = (holder: JsonObject | undefined, name: string): readonly string[] => {
  const value = holder?.[name]
  return isList(value) ? value.filter(each => typeof each === 'string') : []
}
/** The member as a text, or null. */
export const textIn = (holder: JsonObject | undefined, name: string): string | null => {
  const value = holder?.[name]
  return typeof value === 'string' ? value : null
}

/** `value` with each member of each object in it mapped, the innermost first. */
export function mapObjects(value: Json, change: (object: JsonObject) => JsonObject): Json {
  if (isList(value)) return value.map(each => mapObjects(each, change))
  if (!isObject(value)) return value
  const mapped: Record<string, Json | undefined> = {}
  for (const [name, member] of Object.entries(value))
    if (member !== undefined) mapped[name] = mapObjects(member, change)
  return change(mapped)
}

/** The members whose names `keep` takes. */
export const pick = (object: JsonObject, keep: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => keep(name)))

/** The same text for values that differ in nothing but the order of members, descriptions and titles. */
export function shapeText(value: Json | undefined): string {
  if (isList(value)) return `[${value.map(shapeText).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const isSchema = 'type' in value || '$ref' in value || 'anyOf' in value || 'enum' in value
  const members = Object.entries(value)
    .filter(([name]) => !isSchema || (name !== 'description' && name !== 'title'))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${shapeText(member)}`).join(',')}}`
}
