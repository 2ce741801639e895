// How the tenant tests call each route: which tenant's ids go where. Routes of resources follow from their definitions;
// every other route has an entry here. A route without one fails the tests.
import { eventHash, eventId } from '../../shared/contracts/usage-event.ts'
import type { Resource } from '../resource/define-resource.ts'
import type { Row } from './wire.ts'

/** One seeded tenant: the view of one object of each resource, by object type. */
export type Seeded = ReadonlyMap<string, Row>

export type RouteFixture = {
  /** Values for the path, taken from a tenant's seeded objects. */
  params?: (seeded: Seeded) => Record<string, string>
  /** A body that is valid for the tenant whose objects it names. */
  body?: (seeded: Seeded) => unknown
  query?: (seeded: Seeded) => Record<string, string>
  headers?: Record<string, string>
}

const idOf = (seeded: Seeded, objectType: string): string => {
  const view = seeded.get(objectType)
  if (!view) throw new Error(`no ${objectType} was seeded`)
  return view['id']
}

// No seeded object is an event, so an event of a reference that names the tenant's own customer stands for a foreign one.
const anEvent = { params: (seeded: Seeded) => ({ id: eventId(eventHash(idOf(seeded, 'CUSTOMER'), 'LIVE', 'event')) }) }
const eventFixtures = (path: string): Record<string, RouteFixture> => ({
  [`GET ${path}`]: {},
  [`GET ${path}/:id`]: anEvent,
  [`GET ${path}/:id/event_trace`]: anEvent,
  [`POST ${path}/:id/delete`]: anEvent,
  [`POST ${path}/delete`]: { body: seeded => ({ reference: idOf(seeded, 'CUSTOMER') }) },
  [`POST ${path}/:id/amend`]: { ...anEvent, body: () => ({ meter_values: [] }) },
  [`POST ${path}/amend`]: { body: seeded => ({ reference: idOf(seeded, 'CUSTOMER'), meter_values: [] }) },
})

const aVariable = { params: (seeded: Seeded) => ({ id: idOf(seeded, 'METER_PROPERTY_VARIABLE') }) }
const anInvoice = { params: (seeded: Seeded) => ({ id: idOf(seeded, 'INVOICE') }) }

const aKey = { params: (seeded: Seeded) => ({ id: idOf(seeded, 'API_KEY') }) }
const aFile = { params: (seeded: Seeded) => ({ id: idOf(seeded, 'FILE') }) }

const aUser = { params: (seeded: Seeded) => ({ id: idOf(seeded, 'USER') }) }
const aMembership = {
  params: (seeded: Seeded) => ({
    id: idOf(seeded, 'USER'),
    membershipResourceId: seeded.get('USER')?.['account_memberships'][0].id,
  }),
}
const aTeam = { params: (seeded: Seeded) => ({ id: idOf(seeded, 'TEAM') }) }
const itsRole = (seeded: Seeded) => ({ role_ids: [idOf(seeded, 'ROLE')] })
const anInvitation = (seeded: Seeded) => ({
  username: `${idOf(seeded, 'USER').toLowerCase()}@example.com`,
  account_memberships: [itsRole(seeded)],
  team_memberships: [{ team_id: idOf(seeded, 'TEAM') }],
})
const ACCOUNTS: Readonly<Record<string, RouteFixture>> = {
  'GET /v1/users': {},
  'GET /v1/users/search': {},
  'GET /v1/users/:id': aUser,
  'PATCH /v1/users/:id': { ...aUser, body: () => ({ active: false }) },
  'POST /v1/users/:id/reset-second-factor': aUser,
  'POST /v1/users': { body: anInvitation },
  'POST /v1/users/invite': { body: anInvitation },
  'POST /v1/users/revoke-invite': { body: seeded => ({ id: idOf(seeded, 'USER') }) },
  'GET /v1/users/:id/memberships': aUser,
  'POST /v1/users/:id/memberships': { ...aUser, body: itsRole },
  'PATCH /v1/users/:id/memberships/:membershipResourceId': { ...aMembership, body: itsRole },
  'DELETE /v1/users/:id/memberships/:membershipResourceId': aMembership,
  'GET /v1/users/:id/teams': aUser,
  'POST /v1/users/:id/teams': { ...aUser, body: seeded => ({ team_id: idOf(seeded, 'TEAM') }) },
  'GET /v1/teams': {},
  'POST /v1/teams': {
    body: seeded => ({ name: `Team of ${idOf(seeded, 'TEAM')}`, account_memberships: [itsRole(seeded)] }),
  },
  'GET /v1/teams/:id': aTeam,
  'PATCH /v1/teams/:id': { ...aTeam, body: seeded => ({ account_memberships: [itsRole(seeded)] }) },
  'DELETE /v1/teams/:id': aTeam,
  'POST /v1/teams/:id/memberships': { ...aTeam, body: itsRole },
  'GET /v1/permissions': {},
}

/** Entries by `METHOD url`. */
export const ROUTE_FIXTURES: Readonly<Record<string, RouteFixture>> = {
  ...ACCOUNTS,
  'POST /v1/pricing-plan-subscriptions/:id/cancel': {
    params: seeded => ({ id: idOf(seeded, 'PRICING_PLAN_SUBSCRIPTION') }),
    body: () => ({ type: 'NOW' }),
  },
  'GET /v1/customers/:id/entitlements': { params: seeded => ({ id: idOf(seeded, 'CUSTOMER') }) },
  'PATCH /v1/meter-property-variables/:id/values': { ...aVariable, body: () => ({ add: ['large'] }) },
  'GET /v1/meter-property-variables/:id/values': aVariable,
  'PATCH /v1/api-keys/:id': { ...aKey, body: () => ({ description: 'changed' }) },
  'POST /v1/api-keys/:id/revoke': aKey,
  'GET /v1/api-keys/:id/decrypt': aKey,
  'GET /v1/audit-records': {},
  // No seeded object has a record before the relay has run, so an id of another kind stands for a foreign one.
  'GET /v1/audit-records/:id': { params: seeded => ({ id: idOf(seeded, 'CUSTOMER') }) },
  ...eventFixtures('/v1/events'),
  ...eventFixtures('/v1/ingest/meter-data'),
  'POST /v1/events/calculate': { body: () => ({}) },
  'POST /v1/ingest/persist-data': {
    body: seeded => ({
      customer_id: idOf(seeded, 'CUSTOMER'),
      pricing_plan_subscription_id: idOf(seeded, 'PRICING_PLAN_SUBSCRIPTION'),
      pricing_id: idOf(seeded, 'PRICING'),
      pricing_item_id: seeded.get('PRICING')?.['items'][0]?.id ?? 'none',
      pricing_item_config_id: seeded.get('PRICING')?.['items'][0]?.configs[0]?.id ?? 'none',
      persist_usage: '37',
    }),
  },
  'GET /v1/platforms/:id/up-to-date': { params: seeded => ({ id: idOf(seeded, 'PLATFORM') }) },
  'GET /v1/files/:id/lines': aFile,
  'PUT /v1/files/:id/content': { ...aFile, body: () => 'reference\n', headers: { 'content-type': 'text/csv' } },
  'GET /v1/meters/:id/meter-data-file': { params: seeded => ({ id: idOf(seeded, 'METER') }) },
  'GET /v1/invoices': {},
  'POST /v1/invoices/search': { body: () => ({}) },
  'GET /v1/invoices/:id': anInvoice,
  'GET /v1/invoices/:id/pdf': anInvoice,
  'PATCH /v1/invoices/:id': { ...anInvoice, body: () => ({ on_hold: true }) },
  'POST /v1/invoices/:id/refresh': { ...anInvoice, body: () => ({ types: ['FULL'] }) },
  'POST /v1/invoices/preview': {
    body: seeded => ({ pricing_plan_subscription_id: idOf(seeded, 'PRICING_PLAN_SUBSCRIPTION') }),
  },
}

/** The fixture of a route, from its entry or from the resource it belongs to; null when there is none. */
export function routeFixtureOf(method: string, url: string, resources: readonly Resource[]): RouteFixture | null {
  const entry = ROUTE_FIXTURES[`${method} ${url}`]
  if (entry) return entry
  const resource = resources.find(({ path }) => url === `/v1/${path}` || url.startsWith(`/v1/${path}/`))
  if (!resource) return null
  const rest = url.slice(`/v1/${resource.path}`.length)
  const params = { params: (seeded: Seeded) => ({ id: idOf(seeded, resource.objectType) }) }
  if (rest === '') return method === 'GET' ? {} : { body: seeded => seeded.get(`${resource.objectType} body`) }
  if (rest === '/search') return { body: () => ({}) }
  if (rest === '/:id') return method === 'PATCH' ? { ...params, body: () => resource.fixture.update } : params
  if (/^\/:id\/(activate|deprecate|archive)$/.test(rest)) return params
  return null
}
