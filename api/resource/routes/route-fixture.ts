// How the tenant tests call a route that is more than a shared operation: which tenant's ids go where.
import type { Row } from '../define-resource.ts'

/** One seeded tenant: the view of one object of each resource, by object type. */
export type Seeded = ReadonlyMap<string, Row>

export type RouteFixture = {
  /** Values for the path, taken from a tenant's seeded objects. */
  readonly params?: (seeded: Seeded) => Record<string, string>
  /** What the query must say, by ids of the tenant's seeded objects. */
  readonly query?: (seeded: Seeded) => Record<string, string>
  /** A body that is valid for the tenant whose objects it names. */
  readonly body?: (seeded: Seeded) => unknown
  readonly headers?: Record<string, string>
}

/** By `METHOD url`. A route that needs a caller and has none fails the tests. */
export type RouteFixtures = Readonly<Record<string, RouteFixture>>

/** The seeded object of this type. */
export function seededView(seeded: Seeded, objectType: string): Row {
  const view = seeded.get(objectType)
  if (!view) throw new Error(`no ${objectType} was seeded`)
  return view
}

export const seededId = (seeded: Seeded, objectType: string): string => String(seededView(seeded, objectType).id)

/** The fixture of a route below `/:id` of an object type. */
export const onSeeded = (objectType: string): RouteFixture => ({
  params: seeded => ({ id: seededId(seeded, objectType) }),
})
