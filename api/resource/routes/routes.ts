// The routes of a resource, from its definition: every resource answers the same calls in the same way.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Uow } from '../../../shared/database/database.ts'
import { listOf } from '../../http/pagination.ts'
import { IdParams } from '../../http/params.ts'
import { type RouteDeps, readRoute, writeRoute } from '../../http/route.ts'
import { fieldActionsOf, fieldActionsQuery } from '../changes/field-actions.ts'
import { changeStatus, createResource, deleteResource, updateResource } from '../commands.ts'
import type { Resource, Row, StoredRow } from '../define-resource.ts'
import { nounOf, withArticle } from '../nouns.ts'
import { Shape } from '../shapes.ts'
import { lockOne } from '../store.ts'
import { normalizeTimes } from '../timestamps.ts'
import { upsertResource } from '../upsert/upsert.ts'
import { upsertOptions, upsertQuery } from '../upsert/upsert-query.ts'
import { isPipelined, viewById, viewOf } from '../views.ts'
import { about, ExpandQuery, registerList, registerSearch } from './list-routes.ts'

const VERBS = { activate: 'ACTIVE', deactivate: 'INACTIVE', deprecate: 'DEPRECATED', archive: 'ARCHIVED' } as const

/** Registers the operations the definition names, under /v1. */
export function resourceRoutes(app: FastifyInstance, deps: RouteDeps, resource: Resource): void {
  for (const operation of resource.operations) REGISTER[operation](app, deps, resource)
}

type Register = (app: FastifyInstance, deps: RouteDeps, resource: Resource) => void

const REGISTER: Readonly<Record<Resource['operations'][number], Register>> = {
  create: (app, deps, resource) =>
    writeRoute(app, deps, {
      ...about(resource, 'CREATE', `Create ${oneOf(resource)}.`),
      method: 'POST',
      url: `/v1/${resource.path}`,
      body: resource.createBody,
      response: resource.view,
      status: 201,
      handle: async (uow, { body }) =>
        await viewOf(
          uow,
          resource,
          await createResource(uow, resource, normalizeTimes(resource.createBody, body) as Row),
        ),
    }),
  upsert: (app, deps, resource) =>
    writeRoute(app, deps, {
      ...about(resource, 'UPDATE', `Create ${oneOf(resource)}, or update the one with this reference.`),
      method: 'PUT',
      url: `/v1/${resource.path}`,
      query: upsertQuery(resource),
      body: resource.createBody,
      response: resource.view,
      status: 201,
      handle: async (uow, { query, body }, setStatus) => {
        const given = normalizeTimes(resource.createBody, body) as Row
        const { row, created } = await upsertResource(uow, resource, given, upsertOptions(query))
        if (!created) setStatus(200)
        return await viewOf(uow, resource, row)
      },
    }),
  list: registerList,
  search: registerSearch,
  get: (app, deps, resource) =>
    readRoute(app, deps, {
      ...about(resource, 'VIEW', `Read ${oneOf(resource)}.`),
      method: 'GET',
      url: `/v1/${resource.path}/:id`,
      params: IdParams,
      query: Shape(ExpandQuery),
      response: resource.view,
      isPipelined: ({ params, query }) =>
        isPipelined(resource, params.id) && (query as Record<string, unknown>)['expand[]'] === undefined,
      handle: async (uow, { params, query }) =>
        await viewById(uow, resource, params.id, listOf(query['expand[]'] as string | string[] | undefined)),
    }),
  update: (app, deps, resource) =>
    writeRoute(app, deps, {
      ...about(resource, 'UPDATE', `Change ${oneOf(resource)}. Fields that are not sent stay; null clears.`),
      method: 'PATCH',
      url: `/v1/${resource.path}/:id`,
      params: IdParams,
      query: Shape({ ...flagQuery(resource), ...fieldActionsQuery(resource) }),
      body: resource.updateBody,
      response: resource.view,
      status: 200,
      handle: async (uow, { params, query, body }) => {
        const patch = normalizeTimes(resource.updateBody, body) as Row
        const row = await updateResource(uow, resource, params.id, patch, fieldActionsOf(query))
        await applyFlags(uow, resource, row, query, 'change')
        return await viewOf(uow, resource, row)
      },
    }),
  delete: (app, deps, resource) =>
    writeRoute(app, deps, {
      ...about(resource, 'DELETE', `Delete ${oneOf(resource)}${resource.statuses ? ' that is still DRAFT' : ''}.`),
      method: 'DELETE',
      url: `/v1/${resource.path}/:id`,
      params: IdParams,
      query: Shape(flagQuery(resource)),
      response: resource.view,
      status: 200,
      handle: async (uow, { params, query }) => {
        const row = await lockOne(uow, resource, params.id)
        if (row) await applyFlags(uow, resource, row, query, 'delete')
        return await viewOf(uow, resource, await deleteResource(uow, resource, params.id))
      },
    }),
  activate: (app, deps, resource) => registerVerb(app, deps, resource, 'activate'),
  deactivate: (app, deps, resource) => registerVerb(app, deps, resource, 'deactivate'),
  deprecate: (app, deps, resource) => registerVerb(app, deps, resource, 'deprecate'),
  archive: (app, deps, resource) => registerVerb(app, deps, resource, 'archive'),
}

function registerVerb(app: FastifyInstance, deps: RouteDeps, resource: Resource, verb: keyof typeof VERBS): void {
  writeRoute(app, deps, {
    ...about(resource, 'UPDATE', `Move ${oneOf(resource)} to ${VERBS[verb]}.`),
    method: 'POST',
    url: `/v1/${resource.path}/:id/${verb}`,
    params: IdParams,
    query: Shape(flagQuery(resource)),
    response: resource.view,
    status: 200,
    handle: async (uow, { params, query }) => {
      const row = await changeStatus(uow, resource, params.id, VERBS[verb])
      await applyFlags(uow, resource, row, query, 'change')
      return await viewOf(uow, resource, row)
    },
  })
}

const flagQuery = (resource: Resource) =>
  Object.fromEntries(
    Object.entries(resource.flags ?? {}).map(([name, { description }]) => [
      name,
      Type.Optional(Type.Enum(['true', 'false'], { description })),
    ]),
  )

async function applyFlags(uow: Uow, resource: Resource, row: StoredRow, query: object, action: 'change' | 'delete') {
  for (const [name, flag] of Object.entries(resource.flags ?? {})) {
    if ((query as Record<string, unknown>)[name] === 'true') await flag.apply(uow, row, action)
  }
}

const oneOf = (resource: Resource): string => withArticle(nounOf(resource.objectType))
