// The routes of a resource, from its definition: every resource answers the same calls in the same way.
import type { SQL } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import Type, { type TProperties, type TSchema } from 'typebox'
import type { ReadUow, Uow } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import { dateRange, listOf, PageOf, PageQuery, pageOf, pageView, UNPAGED_MAX } from '../http/pagination.ts'
import { type RouteDeps, readRoute, writeRoute } from '../http/route.ts'
import { changeStatus, createResource, deleteResource, updateResource, upsertResource } from './commands.ts'
import type { Resource, Row } from './define-resource.ts'
import { Shape } from './shapes.ts'
import { getOne, isEqual, isLike, isOneOf, isWithin, listRows, lockOne } from './store.ts'
import { normalizeTimes } from './timestamps.ts'
import { viewOf, viewsOf } from './views.ts'

const IdParams = Shape({ id: Type.String({ minLength: 1, maxLength: 255 }) })
const Repeatable = (item: TSchema) => Type.Optional(Type.Union([item, Type.Array(item, { maxItems: 100 })]))
const ExpandQuery = { 'expand[]': Repeatable(Type.String({ maxLength: 64 })) }
const VERBS = { activate: 'ACTIVE', deprecate: 'DEPRECATED', archive: 'ARCHIVED' } as const

type ListInput = Record<string, string | string[] | undefined>

/** Registers the operations the definition names, under /v1. */
export function resourceRoutes(app: FastifyInstance, deps: RouteDeps, resource: Resource): void {
  for (const operation of resource.operations) REGISTER[operation](app, deps, resource)
}

type Register = (app: FastifyInstance, deps: RouteDeps, resource: Resource) => void

const REGISTER: Readonly<Record<Resource['operations'][number], Register>> = {
  create: (app, deps, resource) =>
    writeRoute(app, deps, {
      ...about(resource, 'CREATE', `Create a ${nameOf(resource)}.`),
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
      ...about(resource, 'UPDATE', `Create a ${nameOf(resource)}, or update the one with this reference.`),
      method: 'PUT',
      url: `/v1/${resource.path}`,
      query: Shape({ identifier_field: Type.Optional(Type.Literal('reference')) }),
      body: resource.createBody,
      response: resource.view,
      status: 201,
      handle: async (uow, { body }, setStatus) => {
        const { row, created } = await upsertResource(uow, resource, normalizeTimes(resource.createBody, body) as Row)
        if (!created) setStatus(200)
        return await viewOf(uow, resource, row)
      },
    }),
  list: registerList,
  search: registerSearch,
  get: (app, deps, resource) =>
    readRoute(app, deps, {
      ...about(resource, 'VIEW', `Read one ${nameOf(resource)}.`),
      method: 'GET',
      url: `/v1/${resource.path}/:id`,
      params: IdParams,
      query: Shape(ExpandQuery),
      response: resource.view,
      handle: async (uow, { params, query }) =>
        await viewOf(
          uow,
          resource,
          await getOne(uow, resource, params.id),
          listOf(query['expand[]'] as string | string[] | undefined),
        ),
    }),
  update: (app, deps, resource) =>
    writeRoute(app, deps, {
      ...about(resource, 'UPDATE', `Change a ${nameOf(resource)}. What is not sent stays; null clears.`),
      method: 'PATCH',
      url: `/v1/${resource.path}/:id`,
      params: IdParams,
      query: flagQuery(resource),
      body: resource.updateBody,
      response: resource.view,
      status: 200,
      handle: async (uow, { params, query, body }) => {
        const patch = normalizeTimes(resource.updateBody, body) as Row
        const row = await updateResource(uow, resource, params.id, patch)
        await applyFlags(uow, resource, row, query, 'change')
        return await viewOf(uow, resource, row)
      },
    }),
  delete: (app, deps, resource) =>
    writeRoute(app, deps, {
      ...about(resource, 'DELETE', `Delete a ${nameOf(resource)}${resource.statuses ? ' that is still DRAFT' : ''}.`),
      method: 'DELETE',
      url: `/v1/${resource.path}/:id`,
      params: IdParams,
      query: flagQuery(resource),
      response: resource.view,
      status: 200,
      handle: async (uow, { params, query }) => {
        const row = await lockOne(uow, resource, params.id)
        if (row) await applyFlags(uow, resource, row, query, 'delete')
        return await viewOf(uow, resource, await deleteResource(uow, resource, params.id))
      },
    }),
  activate: (app, deps, resource) => registerVerb(app, deps, resource, 'activate'),
  deprecate: (app, deps, resource) => registerVerb(app, deps, resource, 'deprecate'),
  archive: (app, deps, resource) => registerVerb(app, deps, resource, 'archive'),
}

function registerVerb(app: FastifyInstance, deps: RouteDeps, resource: Resource, verb: keyof typeof VERBS): void {
  writeRoute(app, deps, {
    ...about(resource, 'UPDATE', `Move a ${nameOf(resource)} to ${VERBS[verb]}.`),
    method: 'POST',
    url: `/v1/${resource.path}/:id/${verb}`,
    params: IdParams,
    query: flagQuery(resource),
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
  Shape(
    Object.fromEntries(
      Object.entries(resource.flags ?? {}).map(([name, { description }]) => [
        name,
        Type.Optional(Type.Enum(['true', 'false'], { description })),
      ]),
    ),
  )

async function applyFlags(uow: Uow, resource: Resource, row: Row, query: object, action: 'change' | 'delete') {
  for (const [name, flag] of Object.entries(resource.flags ?? {})) {
    if ((query as Record<string, unknown>)[name] === 'true') await flag.apply(uow, row, action)
  }
}

const PAGED = (resource: Resource): boolean => resource.paged ?? true

function registerList(app: FastifyInstance, deps: RouteDeps, resource: Resource): void {
  const filters: TProperties = {}
  for (const [name, filter] of Object.entries(filtersOf(resource))) {
    const schema = filter.schema ?? Type.String({ maxLength: 255 })
    filters[name] = name.endsWith('[]') ? Repeatable(schema) : Type.Optional(schema)
  }
  readRoute(app, deps, {
    ...about(resource, 'VIEW', `List the ${resource.path.replaceAll('-', ' ')}.`),
    method: 'GET',
    url: `/v1/${resource.path}`,
    query: Shape({ ...filters, ...ExpandQuery, ...orderQuery(resource), ...(PAGED(resource) ? PageQuery : {}) }),
    response: PAGED(resource) ? PageOf(resource.view) : Type.Object({ data: Type.Array(resource.view) }),
    handle: (uow, { query }) =>
      answerList(uow, resource, query as ListInput, conditionsOf(resource, query as ListInput), `/v1/${resource.path}`),
  })
}

const orderQuery = (resource: Resource) => ({
  order_by: Type.Optional(Type.Enum(orderable(resource))),
  order_direction: Type.Optional(Type.Enum(['asc', 'desc', 'ASC', 'DESC'])),
})
const orderable = (resource: Resource): string[] => ['created_at', 'updated_at', ...(resource.orderBy ?? [])]

const filtersOf = (resource: Resource): NonNullable<Resource['filters']> => ({
  ...(resource.byReference ? { reference: { kind: 'equals', column: 'reference' } } : {}),
  ...(resource.statuses
    ? { 'statuses[]': { kind: 'oneOf', column: 'status', schema: resource.fields['status']?.schema ?? Type.String() } }
    : {}),
  ...resource.filters,
})

function conditionsOf(resource: Resource, query: ListInput): SQL[] {
  return Object.entries(filtersOf(resource)).flatMap(([name, filter]): SQL[] => {
    const values = listOf(query[name])
    const [value] = values
    if (value === undefined) return []
    if (filter.kind === 'oneOf') return [isOneOf(resource, filter.column, values)]
    if (filter.kind === 'equals') return [isEqual(resource, filter.column, value)]
    const { from, before } = dateRange(name, value)
    return isWithin(resource, filter.column, from, before)
  })
}

async function answerList(
  uow: ReadUow,
  resource: Resource,
  query: ListInput,
  conditions: SQL[],
  path: string,
): Promise<object> {
  const paged = PAGED(resource)
  const page = paged ? pageOf(query as { page?: string; limit?: string }) : { page: 1, limit: UNPAGED_MAX }
  const { rows, total } = await listRows(uow, resource, {
    conditions,
    orderBy: (query['order_by'] as string | undefined) ?? 'created_at',
    descending: String(query['order_direction'] ?? 'desc').toLowerCase() === 'desc',
    limit: page.limit,
    offset: (page.page - 1) * page.limit,
  })
  const data = await viewsOf(uow, resource, rows, listOf(query['expand[]']))
  return paged ? pageView(urlOf(path, query), page, data, total) : { data }
}

function urlOf(path: string, query: ListInput): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const one of listOf(value)) parameters.append(name, one)
  return `${path}?${parameters}`
}

const SearchBody = Shape({
  search_fields: Type.Optional(
    Type.Array(
      Shape({
        name: Type.String(),
        value: Type.String({ maxLength: 255 }),
        wildcard_start: Type.Optional(Type.Boolean()),
        wildcard_end: Type.Optional(Type.Boolean()),
        ignore_case: Type.Optional(Type.Boolean()),
      }),
      { maxItems: 20 },
    ),
  ),
  filter_fields: Type.Optional(
    Type.Array(
      Shape({
        name: Type.String(),
        value: Type.Optional(Type.String({ maxLength: 255 })),
        values: Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 })),
      }),
      { maxItems: 20 },
    ),
  ),
})

function registerSearch(app: FastifyInstance, deps: RouteDeps, resource: Resource): void {
  readRoute(app, deps, {
    ...about(resource, 'VIEW', `Search the ${resource.path.replaceAll('-', ' ')}: every field given must match.`),
    method: 'POST',
    url: `/v1/${resource.path}/search`,
    query: Shape({ ...ExpandQuery, ...orderQuery(resource), ...PageQuery }),
    body: SearchBody,
    response: PageOf(resource.view),
    handle: async (uow, { query, body }) => {
      const searches = (body.search_fields ?? []).map((search, index) => {
        checkName(search.name, resource.searchable ?? [], `search_fields.${index}.name`)
        return isLike(resource, search.name, {
          value: search.value,
          start: search.wildcard_start ?? false,
          end: search.wildcard_end ?? false,
          ignoreCase: search.ignore_case ?? false,
        })
      })
      const filters = (body.filter_fields ?? []).map((filter, index) => {
        checkName(
          filter.name,
          [...(resource.searchable ?? []), ...(resource.statuses ? ['status'] : [])],
          `filter_fields.${index}.name`,
        )
        return isOneOf(resource, filter.name, filter.values ?? [filter.value ?? ''])
      })
      const input = query as ListInput
      return await answerList(
        uow,
        resource,
        { order_direction: 'asc', ...input },
        [...searches, ...filters],
        `/v1/${resource.path}/search`,
      )
    },
  })
}

function checkName(name: string, allowed: readonly string[], field: string): void {
  if (!allowed.includes(name))
    throw new AppError('INVALID_FIELD', `${field} must be one of ${allowed.join(', ')}.`, { field })
}

const nameOf = (resource: Resource): string => resource.objectType.toLowerCase().replaceAll('_', ' ')
const about = (resource: Resource, action: 'VIEW' | 'CREATE' | 'UPDATE' | 'DELETE', summary: string) => ({
  permission: `${resource.objectType}.${action}` as const,
  summary,
  tag: resource.path,
})
