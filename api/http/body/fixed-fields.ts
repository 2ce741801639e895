// Fields that a resource has and a body does not take. Nobody misspelt them, so their refusal says why they are not taken.
import type { TSchema } from 'typebox'

type Names = { readonly properties?: Readonly<Record<string, unknown>> }
type Kind = 'creation' | 'shown'

const kinds = new WeakMap<object, ReadonlyMap<string, Kind>>()

/**
 * Says of a body what its resource has besides: in `create`, what is given when it is created, and in `view`, what answers show. Returns
 * the body.
 */
export function withFixedFields<T extends TSchema>(body: T, has: { create?: TSchema; view?: TSchema }): T {
  const taken = namesOf(body)
  const besides = (schema: TSchema | undefined, kind: Kind) =>
    [...namesOf(schema)].filter(name => !taken.has(name)).map(name => [name, kind] as const)
  kinds.set(body, new Map([...besides(has.view, 'shown'), ...besides(has.create, 'creation')]))
  return body
}

/** How a body has the field that it does not take: set at creation alone, or only shown; undefined for a name that is unknown. */
export const fixedField = (body: unknown, name: string): Kind | undefined =>
  typeof body === 'object' && body !== null ? kinds.get(body)?.get(name) : undefined

const namesOf = (schema: TSchema | undefined): Set<string> => new Set(Object.keys((schema as Names)?.properties ?? {}))
