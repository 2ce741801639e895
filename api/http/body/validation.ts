// TypeBox schemas as Fastify validators: bodies are never coerced or trimmed, and a refusal names the field and what to do.
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { AppError } from '../../../shared/errors.ts'
import { bySchema } from './by-schema.ts'
import { maximumOf } from './conditions.ts'
import { callsThatChange, fixedField } from './fixed-fields.ts'
import { formOf } from './forms.ts'
import { similarNames } from './similar-names.ts'
import { whatItMustBe } from './value-texts.ts'

type Fault = {
  keyword: string
  instancePath: string
  schemaPath: string
  message: string
  params: Record<string, unknown>
}

/** The compiled check of a schema. */
export const validatorOf = bySchema(schema => Compile(schema))

/**
 * A Fastify validator compiler over TypeBox, which compiles with the first check. A failed check carries one AppError about the
 * first fault that says most.
 */
export function validatorCompiler({
  schema,
  httpPart,
}: {
  schema: unknown
  httpPart?: string
}): (data: unknown) => true | { error: AppError } {
  return data => {
    const compiled = validatorOf(schema as TSchema)
    if (compiled.Check(data)) return true
    const faults = compiled.Errors(data) as unknown as Fault[]
    const error = httpPart === 'querystring' ? repeatedParameter(faults, data) : null
    return { error: error ?? refusalOf(faults, { schema, data }) }
  }
}

/** Of a parameter that is given more than once and takes one value: a query has it as a list. */
function repeatedParameter(faults: readonly Fault[], data: unknown): AppError | null {
  const given = data as Readonly<Record<string, unknown>>
  const mayBeList = (path: string) =>
    faults.some(({ keyword, instancePath }) => keyword === 'anyOf' && instancePath === path)
  const fault = faults.find(
    ({ keyword, instancePath, params }) =>
      keyword === 'type' &&
      params['type'] === 'string' &&
      Array.isArray(given[dotted(instancePath)]) &&
      !mayBeList(instancePath),
  )
  if (!fault) return null
  const field = dotted(fault.instancePath)
  return new AppError('INVALID_FIELD', `${field} is given more than once. Send it once.`, { field })
}

/** A body, or another part of a request, that failed its check. */
type Checked = { readonly schema: unknown; readonly data: unknown }

/**
 * The refusal for a failed check; unknown fields first, since they explain most other faults. It names the fields that the caller may have
 * meant.
 */
function refusalOf(found: readonly Fault[], { schema, data }: Checked): AppError {
  const faults = found.map(fault => (fault.keyword === 'if' ? tooLarge(fault, schema) : fault))
  const unknown = faults.find(fault => fault.keyword === 'additionalProperties')
  const missing = faults.find(fault => fault.keyword === 'required')
  const fault =
    unknown ??
    missing ??
    faults.find(({ keyword }) => keyword === 'enum' || keyword === 'format') ??
    ofMeantBranch(faults)
  if (!fault) return new AppError('BAD_REQUEST', 'The request does not have the expected shape.')
  const path = dotted(fault.instancePath)
  if (fault === unknown) {
    const given = first(fault.params['additionalProperties'])
    const name = join(path, given)
    return new AppError('INVALID_FIELD', `${name} ${adviceOn(given, { schema, data }, fault)}`, { field: name })
  }
  if (fault === missing) {
    return required(join(path, first(fault.params['requiredProperties'])))
  }
  if (path !== '' && valueAt(data, fault.instancePath) === null && isRequired(schema, fault)) return required(path)
  if (path === '' && fault.keyword === 'type' && fault.params['type'] === 'object')
    return new AppError('INVALID_REQUEST', 'The body must be a JSON object.')
  if (path === '') return new AppError('INVALID_REQUEST', `The request ${fault.message}.`)
  return new AppError('INVALID_FIELD', `${path} ${whatItMustBe(fault)}.`, { field: path })
}

const required = (field: string): AppError => new AppError('MISSING_FIELD', `${field} is required.`, { field })

/** Whether the object in which this value stands cannot be without it. Null is then as if it were absent. */
function isRequired(schema: unknown, { instancePath, schemaPath }: Fault): boolean {
  const name = keysOf(instancePath).at(-1) ?? ''
  const keys = schemaPath.split('/')
  const place = keys.findLastIndex((key, at) => key === 'properties' && keysOf(`/${keys[at + 1]}`)[0] === name)
  const names = place < 0 ? undefined : partAt(schema, keys.slice(0, place).join('/'))?.['required']
  return Array.isArray(names) && names.includes(name)
}

const valueAt = (data: unknown, pointer: string): unknown =>
  keysOf(pointer).reduce((of, key) => (of as Record<string, unknown> | null | undefined)?.[key], data)

/** Of a field that is not taken: why, and what to do. */
function adviceOn(name: string, { schema, data }: Checked, { instancePath, schemaPath }: Fault): string {
  const fixed = instancePath === '' ? fixedField(schema, name) : undefined
  if (fixed === 'creation') return 'is set at creation and cannot be changed. Leave it out.'
  const form = formOf(schema, data)
  if (form && instancePath === '') return form.says
  // Where the body has another form, the name would be refused there too.
  const meant = similarNames(name, fieldsAt(schema, schemaPath), form ? [] : placesOf(name, schema))
  const advice = meant.length > 0 ? `Did you mean ${meant.join(' or ')}?` : undefined
  if (fixed === 'shown')
    return `is only shown in answers. ${callsThatChange(schema, name) ?? advice ?? 'Leave it out.'}`
  return `is not a field that is accepted here. ${advice ?? 'Remove it, or check its spelling.'}`
}

/** Of a value that may be of several types, the fault of the type that was sent. */
function ofMeantBranch(faults: readonly Fault[]): Fault | undefined {
  const [first, ...others] = faults
  if (first?.keyword !== 'type') return first
  const { instancePath: path } = first
  if (!others.some(({ keyword, instancePath }) => keyword === 'anyOf' && instancePath === path)) return first
  const isMeant = ({ keyword, instancePath }: Fault) =>
    instancePath === path ? keyword !== 'type' && keyword !== 'anyOf' : instancePath.startsWith(`${path}/`)
  return others.find(isMeant) ?? first
}

/** A failed condition as the maximum that it sets. */
function tooLarge(fault: Fault, schema: unknown): Fault {
  const set = maximumOf(partAt(schema, fault.schemaPath))
  if (!set) return fault
  const instancePath = `${fault.instancePath}/${set.field}`
  return { ...fault, keyword: 'maximum', instancePath, params: { limit: set.maximum } }
}

/** The fields of the object that a part of a schema describes. */
const fieldsAt = (schema: unknown, schemaPath: string): string[] =>
  Object.keys(partAt(schema, schemaPath)?.['properties'] ?? {})

function partAt(schema: unknown, schemaPath: string): Record<string, unknown> | undefined {
  let part = schema as Record<string, unknown> | undefined
  for (const key of keysOf(schemaPath)) part = part?.[key] as Record<string, unknown> | undefined
  return part
}

const DEPTH_MAX = 3

/** Where in a body a field of this name is accepted, such as `items.0.name`: the nearest to its top first. */
function placesOf(name: string, schema: unknown): string[] {
  let parts: readonly { readonly path: string; readonly part: unknown }[] = [{ path: '', part: schema }]
  const places: string[] = []
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    const members = parts.flatMap(({ path, part }) =>
      objectsIn(part).flatMap(({ at, properties }) =>
        Object.entries(properties).map(([key, member]) => ({ key, path: join(join(path, at), key), part: member })),
      ),
    )
    places.push(...members.filter(({ key }) => key === name).map(({ path }) => path))
    parts = members
  }
  return [...new Set(places)]
}

type Objects = { readonly at: string; readonly properties: Record<string, unknown> }[]

/** The objects that a value may be, itself, as the first of a list, or as one of several types. */
function objectsIn(schema: unknown): Objects {
  const { properties, items, anyOf } = (schema ?? {}) as Record<string, unknown>
  return [
    ...(properties ? [{ at: '', properties: properties as Record<string, unknown> }] : []),
    ...(items ? objectsIn(items).map(of => ({ ...of, at: join('0', of.at) })) : []),
    ...(Array.isArray(anyOf) ? anyOf.flatMap(objectsIn) : []),
  ]
}

const keysOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
const dotted = (pointer: string): string => keysOf(pointer).join('.')
const join = (path: string, name: string): string => [path, name].filter(part => part !== '').join('.')
const first = (names: unknown): string => (Array.isArray(names) ? String(names[0]) : 'a field')
