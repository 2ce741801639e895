// The calls on single events, each under the two names it has.
import type { FastifyInstance } from 'fastify'
import { listOf, PageOf, pageOf, pageView } from '../../http/pagination.ts'
import { actionRoute, type RouteDeps } from '../../http/route.ts'
import { amendEvent } from './amend-event.ts'
import { deleteEvent } from './delete-event.ts'
import { getEvent } from './get-event.ts'
import { type EventsDeps, listEvents } from './list-events.ts'
import {
  AmendBody,
  AmendByReferenceBody,
  DeleteByReferenceBody,
  EventListQuery,
  EventParams,
  EventQuery,
  EventTraceQuery,
  EventTraceView,
  EventView,
} from './schema.ts'
import { traceEvent } from './trace-event.ts'
import { wantsCustomer } from './view-events.ts'

const PATHS = ['/v1/events', '/v1/ingest/meter-data'] as const
const view = { permission: 'METER_DATA.VIEW', tag: 'events', method: 'GET', status: 200 } as const
const amend = { permission: 'METER_DATA.UPDATE', tag: 'events', method: 'POST', status: 200 } as const
const remove = { permission: 'METER_DATA.DELETE', tag: 'events', method: 'POST', status: 200 } as const

export function eventRoutes(app: FastifyInstance, deps: RouteDeps & EventsDeps): void {
  for (const path of PATHS) {
    listRoute(app, deps, path)
    getRoute(app, deps, path)
    traceRoute(app, deps, path)
    deleteRoutes(app, deps, path)
    amendRoutes(app, deps, path)
  }
}

type Deps = RouteDeps & EventsDeps

function listRoute(app: FastifyInstance, deps: Deps, path: string): void {
  actionRoute(app, deps, {
    ...view,
    summary: 'List events, newest by their own time first, with what has become of each.',
    url: path,
    query: EventListQuery,
    response: PageOf(EventView),
    handle: async ({ tenant }, { query }) => {
      const page = pageOf({
        ...(query.page ? { page: query.page } : {}),
        ...(query.limit ? { limit: query.limit } : {}),
      })
      const withCustomer = wantsCustomer(listOf(query['expand[]']))
      const { views, total } = await listEvents(deps, tenant, { request: query, page, withCustomer })
      return pageView(urlOf(path, query), page, views, total)
    },
  })
}

function urlOf(path: string, query: Readonly<Record<string, string | string[]>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => listOf(value).map(one => [name, one]))
  return `${path}?${new URLSearchParams(given)}`
}

function getRoute(app: FastifyInstance, deps: Deps, path: string): void {
  actionRoute(app, deps, {
    ...view,
    summary: 'Read the event that counts, by its id or its reference.',
    url: `${path}/:id`,
    params: EventParams,
    query: EventQuery,
    response: EventView,
    handle: async ({ tenant }, { params, query }) =>
      await getEvent(deps, tenant, {
        idOrReference: params.id,
        withCustomer: wantsCustomer(listOf(query['expand[]'])),
      }),
  })
}

function traceRoute(app: FastifyInstance, deps: Deps, path: string): void {
  actionRoute(app, deps, {
    ...view,
    summary: 'Follow an event: when it was received and taken, what rates it, or why nothing does.',
    url: `${path}/:id/event_trace`,
    params: EventParams,
    query: EventTraceQuery,
    response: EventTraceView,
    handle: async ({ tenant }, { params, query }) =>
      await traceEvent(deps, tenant, {
        idOrReference: params.id,
        withCustomer: wantsCustomer(listOf(query['expand[]'])),
      }),
  })
}

function deleteRoutes(app: FastifyInstance, deps: Deps, path: string): void {
  actionRoute(app, deps, {
    ...remove,
    summary: 'Stop an event counting, by its reference. The reference stays used.',
    url: `${path}/delete`,
    body: DeleteByReferenceBody,
    response: EventView,
    handle: async (context, { body }) => await deleteEvent(deps, context, body.reference),
  })
  actionRoute(app, deps, {
    ...remove,
    summary: 'Stop an event counting, by its id or its reference. The reference stays used.',
    url: `${path}/:id/delete`,
    params: EventParams,
    response: EventView,
    handle: async (context, { params }) => await deleteEvent(deps, context, params.id),
  })
}

function amendRoutes(app: FastifyInstance, deps: Deps, path: string): void {
  actionRoute(app, deps, {
    ...amend,
    summary: 'Correct what an event measured, by its reference. What it was is kept.',
    url: `${path}/amend`,
    body: AmendByReferenceBody,
    response: EventView,
    handle: async (context, { body: { reference, ...amendment } }) =>
      await amendEvent(deps, context, { idOrReference: reference, amendment }),
  })
  actionRoute(app, deps, {
    ...amend,
    summary: 'Correct what an event measured, by its id or its reference. What it was is kept.',
    url: `${path}/:id/amend`,
    params: EventParams,
    body: AmendBody,
    response: EventView,
    handle: async (context, { params, body }) =>
      await amendEvent(deps, context, { idOrReference: params.id, amendment: body }),
  })
}
