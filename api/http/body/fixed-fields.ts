// Fields that a resource has and a body does not take. They are spelled correctly, so their refusal says why they are not accepted.
import type { TSchema } from 'typebox'

type Names = { readonly properties?: Readonly<Record<string, unknown>> }
type Kind = 'creation' | 'shown'

const kinds = new WeakMap<object, ReadonlyMap<string, Kind>>()
const calls = new WeakMap<object, ReadonlyMap<string, string>>()

/**
 * Notes which other fields the resource of a body has: `create` is the body that creates it, and `view` what answers show. `changedBy` says
 * which calls change a field. Returns the body.
 */
export function withFixedFields<T extends TSchema>(
  body: T,
  has: { create?: TSchema; view?: TSchema; changedBy?: ReadonlyMap<string, string> },
): T {
  const taken = namesOf(body)
  const besides = (schema: TSchema | undefined, kind: Kind) =>
    [...namesOf(schema)].filter(name => !taken.has(name)).map(name => [name, kind] as const)
  kinds.set(body, new Map<string, Kind>([...besides(has.view, 'shown'), ...besides(has.create, 'creation')]))
  if (has.changedBy) calls.set(body, has.changedBy)
  return body
}

/** Which calls change a field that is only shown; undefined where none is named. */
export const callsThatChange = (body: unknown, name: string): string | undefined =>
  typeof body === 'object' && body !== null ? calls.get(body)?.get(name) : undefined

/**
 * Why a field is not taken: it is set at creation alone, or is only shown. Undefined for a name that is unknown.
 */
export const fixedField = (body: unknown, name: string): Kind | undefined =>
  typeof body === 'object' && body !== null ? kinds.get(body)?.get(name) : undefined

const namesOf = (schema: TSchema | undefined): Set<string> => new Set(Object.keys((schema as Names)?.properties ?? {}))
