// Catalog entries as a file has them and as the api takes them: references in the place of ids, and nothing that goes without saying.
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../../shared/errors.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { REFERENCES, type Section } from './sections.ts'
import { VARIABLES } from './variables.ts'

/** By section: the reference of an id, or the id of a reference. */
export type Names = ReadonlyMap<Section, ReadonlyMap<string, string>>

const FIELD_OF = new Map(Object.entries(REFERENCES).map(([field, [name, section]]) => [name, { field, section }]))

/** The service's own, and second names of what is there. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'object_type',
  'id',
  'feature_id',
  'overwrite',
  'feature',
  'meter_property_variable',
])

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)
/** What a member that is left out means; a switch that is off is a value. */
const goesWithoutSaying = (name: string, value: unknown): boolean =>
  value === null || value === undefined || (value === false && name !== 'switch') || isDeepStrictEqual(value, [])

/** A stored value as a file has it. Throws INVALID_OPERATION for what has no reference to be named by. */
export function toFile(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((each, index) => withoutOrder(toFile(each, names), index))
  if (!isObject(value)) return value
  const given = 'pricing_type' in value ? withoutSecondType(value) : value
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, member]) => {
      if (LEFT_OUT.has(name) || goesWithoutSaying(name, member)) return []
      if (name === 'reset_type' && member === 'BILLING_PERIOD') return []
      const named = REFERENCES[name]
      if (!named) return [[name, toFile(member, names)]]
      const [short, section] = named
      // A variable without a reference is of the platform alone, so it is named by its id.
      if (section === VARIABLES && !names.get(section)?.has(String(member))) return [[name, member]]
      const referenceOf = (id: unknown) => names.get(section)?.get(String(id)) ?? unnamed(section, String(id))
      return [[short, Array.isArray(member) ? member.map(referenceOf) : referenceOf(member)]]
    }),
  )
}

const withoutSecondType = ({ type: _same, ...config }: Row): Row => config

/** Configs stand in the order in which they are tried. */
function withoutOrder(value: unknown, index: number): unknown {
  if (!isObject(value) || !('pricing_type' in value) || value.order !== index) return value
  const { order: _same, ...config } = value
  return config
}

/** Throws INVALID_OPERATION for a resource that a file cannot name. */
export function unnamed(section: Section, id: string): never {
  throw new AppError(
    'INVALID_OPERATION',
    `${id} of ${section} has no reference, and a file names it by that: give it one.`,
    {
      resourceId: id,
    },
  )
}

/** A value of a file as the api takes it. Throws RESOURCE_NOT_FOUND for a reference that is not there, with its path below `field`. */
export function toBody(value: unknown, names: Names, field: string): unknown {
  if (Array.isArray(value)) return value.map((each, index) => toBody(each, names, `${field}.${index}`))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const path = `${field}.${name}`
      const named = FIELD_OF.get(name)
      // Of the same name: the lists of a meter, whose members are objects.
      const isReference = typeof member === 'string' || (Array.isArray(member) && member.every(isText))
      if (named && member === null) return [named.field, null]
      if (!named || !isReference) return [name, toBody(member, names, path)]
      const idOf = (reference: unknown, at: string) => {
        const id = names.get(named.section)?.get(String(reference))
        if (id !== undefined) return id
        throw new AppError('RESOURCE_NOT_FOUND', `There is no ${JSON.stringify(reference)} in ${named.section}.`, {
          field: at,
        })
      }
      const ids = Array.isArray(member)
        ? member.map((each, index) => idOf(each, `${path}.${index}`))
        : idOf(member, path)
      return [named.field, ids]
    }),
  )
}

const isText = (value: unknown): boolean => typeof value === 'string'

/** The path of a refusal in the words of the file. */
export const inFile = (path: string): string =>
  path
    .split('.')
    .map(part => REFERENCES[part]?.[0] ?? part)
    .join('.')

/** A member of which the file says another thing than what is there. */
export type Difference = { readonly field: string; readonly before: unknown; readonly after: unknown }

/** What a file changes: of the members it has. What it leaves out stays; null and an empty list clear. */
export function differences(before: Row, after: Row, names: Names): Difference[] {
  return Object.entries(after).flatMap(([field, given]) => {
    const [then, now] = [before[field], toFile({ [field]: given }, names)]
    const next = isObject(now) ? now[field] : undefined
    return isDeepStrictEqual(then, next) ? [] : [{ field, before: then ?? null, after: next ?? null }]
  })
}
