// The fixture of each route: routes of resources follow from their definitions, every other one has its module's entry.
import { ROUTE_FIXTURES } from '../modules/modules.ts'
import type { Resource } from '../resource/define-resource.ts'
import { onSeeded, type RouteFixture } from '../resource/routes/route-fixture.ts'
import type { Row } from './wire.ts'

/** One seeded tenant: the view of one object of each resource, by object type. */
export type Seeded = ReadonlyMap<string, Row>

/** The fixture of a route, from its entry or from the resource it belongs to; null when there is none. */
export function routeFixtureOf(method: string, url: string, resources: readonly Resource[]): RouteFixture | null {
  const entry = ROUTE_FIXTURES[`${method} ${url}`]
  if (entry) return entry
  const resource = resources.find(({ path }) => url === `/v1/${path}` || url.startsWith(`/v1/${path}/`))
  if (!resource) return null
  const rest = url.slice(`/v1/${resource.path}`.length)
  const params = onSeeded(resource.objectType)
  if (rest === '') return method === 'GET' ? {} : { body: seeded => seeded.get(`${resource.objectType} body`) }
  if (rest === '/search') return { body: () => ({}) }
  if (rest === '/:id') return method === 'PATCH' ? { ...params, body: () => resource.fixture.update } : params
  if (/^\/:id\/(activate|deactivate|deprecate|archive)$/.test(rest)) return params
  return null
}
