// Schemas as a reader sees them: a word for the type, and a table of the members.
import { refName } from '../description/components.ts'
import { isObject, type JsonObject, objectIn, objectsIn, textIn, textsIn } from '../description/json.ts'
import { escaped, inline } from './html.ts'

/** Where the shapes are listed. */
export const SHAPES = '/v1/docs/shapes'

/** The path of the page of a shape. */
export const shapePath = (name: string): string => `${SHAPES}/${name}`

/** The type in a few words, as HTML. */
export function typeOf(schema: JsonObject): string {
  const name = refName(schema)
  if (name !== null) return `<a href="${shapePath(escaped(name))}">${escaped(name)}</a>`
  const branches = objectsIn(schema, 'anyOf')
  if (branches.length > 0) return branches.map(typeOf).join(' or ')
  if (Array.isArray(schema.enum)) return schema.enum.map(value => `<code>${escaped(String(value))}</code>`).join(' ')
  const types = Array.isArray(schema.type) ? schema.type.map(String) : [textIn(schema, 'type') ?? 'any value']
  return types
    .map(type => (type === 'array' ? `list of ${typeOf(objectIn(schema, 'items'))}` : escaped(type)))
    .join(' or ')
}

const BOUNDS: Readonly<Record<string, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  minLength: 'characters at least',
  maxLength: 'characters at most',
  minItems: 'entries at least',
  maxItems: 'entries at most',
  default: 'default',
}

/** What bounds a value, in words. */
export const boundsOf = (schema: JsonObject): string =>
  Object.entries(BOUNDS)
    .flatMap(([name, words]) => (schema[name] === undefined ? [] : [`${words} ${String(schema[name])}`]))
    .join(', ')

const row = (name: string, schema: JsonObject, isRequired: boolean): string => {
  const bounds = boundsOf(schema)
  return `<tr><td><code>${escaped(name)}</code>${isRequired ? ' <span class="quiet">required</span>' : ''}</td><td>${typeOf(schema)}${
    bounds === '' ? '' : `<br><span class="quiet">${escaped(bounds)}</span>`
  }</td><td>${inline(textIn(schema, 'description') ?? '')}</td></tr>`
}

/** A table of the members of an object, as HTML. */
export function shapeTable(schema: JsonObject): string {
  const required = textsIn(schema, 'required')
  const properties = objectIn(schema, 'properties')
  const rows = Object.entries(properties).map(([name, member]) =>
    row(name, isObject(member) ? member : {}, required.includes(name)),
  )
  return rows.length === 0 ? '' : `<table>${rows.join('')}</table>`
}

/** A table of parameters, as HTML. */
export const parameterTable = (parameters: readonly JsonObject[]): string =>
  parameters.length === 0
    ? ''
    : `<table>${parameters
        .map(parameter =>
          row(
            textIn(parameter, 'name') ?? '',
            { ...objectIn(parameter, 'schema'), description: parameter.description ?? '' },
            parameter.required === true,
          ),
        )
        .join('')}</table>`
