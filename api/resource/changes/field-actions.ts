// `field_actions[field]=ADD`: how a list that a body sends meets the list that is there (semantics 9.5). Pure.
import { isDeepStrictEqual } from 'node:util'
import Type, { type TProperties, type TSchema } from 'typebox'
import { AppError } from '../../../shared/errors.ts'
import { CUSTOM_FIELDS, type Resource, type Row } from '../define-resource.ts'

const ACTIONS = ['REPLACE', 'ADD', 'REMOVE', 'CLEAR'] as const
export type FieldAction = (typeof ACTIONS)[number]
/** Actions by the name of their field; a list without one replaces the one there is. */
export type FieldActions = Readonly<Record<string, FieldAction>>

const NAME = /^field_actions\[([a-z_]+)\]$/
const parameter = (field: string): string => `field_actions[${field}]`

type ListSchema = TSchema & { readonly type?: string; readonly minItems?: number; readonly maxItems?: number }

/** The query parameters: one for each list that a change may send. */
export const fieldActionsQuery = (resource: Resource): TProperties =>
  actionsOn(
    Object.entries(resource.fields)
      .filter(([, entry]) => entry.change !== 'never' && (entry.schema as ListSchema).type === 'array')
      .map(([name]) => name),
  )

/** The same for lists of what is no resource of a definition. */
export const actionsOn = (names: readonly string[]): TProperties =>
  Object.fromEntries(names.map(name => [parameter(name), Type.Optional(Type.Enum([...ACTIONS]))]))

/** The actions of a query that the parameters above have validated. */
export const fieldActionsOf = (query: object): FieldActions =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => {
      const field = NAME.exec(name)?.[1]
      return field === undefined ? [] : [[field, value as FieldAction]]
    }),
  )

/**
 * The patch with whole lists instead of what is to be done to them. Entries are the same by their `id`, or as a whole when they have
 * none: ADD puts an entry in the place of the one that is the same, else at the end; what REMOVE names and is not there is no fault.
 * `previous` is null when the resource is created. Custom fields are left as they are (custom-fields/values.ts). Throws MISSING_FIELD
 * or INVALID_FIELD.
 */
export function withFieldActions(resource: Resource, previous: object | null, patch: Row, actions: FieldActions): Row {
  checkActions(patch, actions)
  const result = { ...patch }
  for (const [name, action] of Object.entries(actions)) {
    if (name === CUSTOM_FIELDS || action === 'REPLACE') continue
    const before = ((previous as Row | null)?.[name] ?? []) as unknown[]
    const given = (patch[name] ?? []) as unknown[]
    const after = action === 'ADD' ? added(before, given) : action === 'REMOVE' ? removed(before, given) : []
    checkLength(resource, name, after.length)
    if (previous === null && after.length === 0) delete result[name]
    else result[name] = after.length === 0 && resource.fields[name]?.create !== 'required' ? null : after
  }
  return result
}

/** Throws MISSING_FIELD or INVALID_FIELD for an action that does not go with what the patch sends. */
export function checkActions(patch: object, actions: FieldActions): void {
  for (const [name, action] of Object.entries(actions)) checkSent(name, action, (patch as Row)[name])
}

function checkSent(name: string, action: FieldAction, given: unknown): void {
  const isEmpty = given === undefined || given === null || (Array.isArray(given) && given.length === 0)
  if (action === 'CLEAR' && !isEmpty) {
    throw new AppError('INVALID_FIELD', `CLEAR empties ${name}; leave the list out.`, { field: parameter(name) })
  }
  if (action !== 'CLEAR' && (given === undefined || given === null)) {
    throw new AppError('MISSING_FIELD', `${action} goes by the entries of ${name}; send the list.`, { field: name })
  }
}

function checkLength(resource: Resource, name: string, length: number): void {
  const schema: ListSchema = resource.fields[name]?.schema ?? {}
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
  if (length >= minItems && length <= maxItems) return
  const bound = length < minItems ? `at least ${minItems}` : `at most ${maxItems}`
  throw new AppError('INVALID_FIELD', `${name} would have ${length} entries; it has ${bound}.`, { field: name })
}

const idOf = (entry: unknown): unknown =>
  typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined
const isSame = (a: unknown, b: unknown): boolean =>
  idOf(a) !== undefined && idOf(b) !== undefined ? idOf(a) === idOf(b) : isDeepStrictEqual(a, b)

function added(before: readonly unknown[], given: readonly unknown[]): unknown[] {
  const after = [...before]
  for (const entry of given) {
    const place = after.findIndex(each => isSame(each, entry))
    if (place === -1) after.push(entry)
    else after[place] = entry
  }
  return after
}

const removed = (before: readonly unknown[], given: readonly unknown[]): unknown[] =>
  before.filter(entry => !given.some(each => isSame(each, entry)))
