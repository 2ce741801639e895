// The calls on single events, each under the two names it has.
import type { FastifyInstance } from 'fastify'
import { listOf, PageOf } from '../../../http/pagination.ts'
import { actionRoute, intentRoute, type RouteDeps } from '../../../http/route.ts'
import { sliceOf, sliceView } from '../../../list/slice.ts'
import { amendEventAction } from './amend-event.ts'
import { deleteEventAction } from './delete-event.ts'
import { traceExpansions } from './expand-links.ts'
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
import { traceEvent } from './trace/trace-event.ts'
import { wantsCustomer } from './view-events.ts'

const PATHS = ['/v1/events', '/v1/ingest/meter-data'] as const
const view = { permission: 'METER_DATA.VIEW', tag: 'events', method: 'GET', status: 200 } as const
const amend = { permission: 'METER_DATA.UPDATE', tag: 'events' } as const
const remove = { permission: 'METER_DATA.DELETE', tag: 'events' } as const

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
    summary: 'List events, newest first, each with what became of it.',
    url: path,
    query: EventListQuery,
    response: PageOf(EventView),
    handle: async ({ tenant, actor }, { query }) => {
      const slice = sliceOf(query)
      const withCustomer = wantsCustomer(actor, listOf(query['expand[]']))
      const { views, first, last, more, total } = await listEvents(deps, tenant, {
        request: query,
        slice,
        withCustomer,
      })
      const rows = [first, last].flatMap(id => (id === null ? [] : { id }))
      return sliceView(path, query, { slice, sliced: { rows, more, total }, data: views })
    },
  })
}

function getRoute(app: FastifyInstance, deps: Deps, path: string): void {
  actionRoute(app, deps, {
    ...view,
    summary: 'Read an event by its id or its reference.',
    url: `${path}/:id`,
    params: EventParams,
    query: EventQuery,
    response: EventView,
    handle: async ({ tenant, actor }, { params, query }) =>
      await getEvent(deps, tenant, {
        idOrReference: params.id,
        withCustomer: wantsCustomer(actor, listOf(query['expand[]'])),
      }),
  })
}

function traceRoute(app: FastifyInstance, deps: Deps, path: string): void {
  actionRoute(app, deps, {
    ...view,
    summary: 'Trace an event: when it was received, what prices it, or why nothing does.',
    url: `${path}/:id/event_trace`,
    params: EventParams,
    query: EventTraceQuery,
    response: EventTraceView,
    handle: async ({ tenant, actor }, { params, query }) =>
      await traceEvent(deps, tenant, {
        idOrReference: params.id,
        wanted: traceExpansions(actor, listOf(query['expand[]'])),
      }),
  })
}

function deleteRoutes(app: FastifyInstance, deps: Deps, path: string): void {
  intentRoute(app, deps, {
    ...remove,
    summary: 'Delete an event by its reference: it no longer counts. The reference stays used.',
    url: `${path}/delete`,
    body: DeleteByReferenceBody,
    action: deleteEventAction,
    begin: async (_uow, { body }) => ({ idOrReference: body.reference }),
  })
  intentRoute(app, deps, {
    ...remove,
    summary: 'Delete an event by its id or its reference: it no longer counts. The reference stays used.',
    url: `${path}/:id/delete`,
    params: EventParams,
    action: deleteEventAction,
    begin: async (_uow, { params }) => ({ idOrReference: params.id }),
  })
}

function amendRoutes(app: FastifyInstance, deps: Deps, path: string): void {
  intentRoute(app, deps, {
    ...amend,
    summary: 'Amend an event by its reference. What it was is kept.',
    url: `${path}/amend`,
    body: AmendByReferenceBody,
    action: amendEventAction,
    begin: async (_uow, { body: { reference, ...amendment } }) => ({ idOrReference: reference, amendment }),
  })
  intentRoute(app, deps, {
    ...amend,
    summary: 'Amend an event by its id or its reference. What it was is kept.',
    url: `${path}/:id/amend`,
    params: EventParams,
    body: AmendBody,
    action: amendEventAction,
    begin: async (_uow, { params, body }) => ({ idOrReference: params.id, amendment: body }),
  })
}
