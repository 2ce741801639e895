// The list and the search of a resource, from its definition.
import type { SQL } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { ReadUow } from '../../../shared/database/database.ts'
import { listOf, PageOf, UNPAGED_MAX } from '../../http/pagination.ts'
import { type RouteDeps, readRoute } from '../../http/route.ts'
import type { Named } from '../../list/filter.ts'
import { wantsFirstPage } from '../../list/first-page.ts'
import { listSlice } from '../../list/list-slice.ts'
import {
  filterConditions,
  filterQuery,
  type ListOrder,
  type ListQuery,
  type ListSpec,
  listAll,
  orderOf,
  orderQuery,
  Repeatable,
  SearchBody,
  searchConditions,
} from '../../list/list-spec.ts'
import { SliceQuery, sliceOf, sliceView } from '../../list/slice.ts'
import { customFieldsType, type Resource, type StoredRow } from '../define-resource.ts'
import { pluralOf } from '../nouns.ts'
import { Shape } from '../shapes.ts'
import { viewsOf } from '../views.ts'

export const ExpandQuery = { 'expand[]': Repeatable(Type.String({ maxLength: 64 })) }

const TIMES = ['created_at', 'updated_at']
const BY_TIME: ListSpec['filters'] = Object.fromEntries(TIMES.map(column => [column, { kind: 'range', column }]))

/** What the lists of a resource can do. */
const specOf = (resource: Resource): ListSpec => ({
  table: resource.table,
  filters: {
    ...(resource.byReference ? { reference: { kind: 'equals', column: 'reference' } } : {}),
    ...(resource.statuses
      ? {
          'statuses[]': { kind: 'oneOf', column: 'status', schema: resource.fields['status']?.schema ?? Type.String() },
        }
      : {}),
    ...resource.filters,
    ...BY_TIME,
  },
  names: namesOf(resource),
  orderBy: [...TIMES, ...(resource.orderBy ?? [])],
  searchable: [...new Set([...(resource.searchable ?? []), ...(resource.statuses ? ['status'] : [])])],
  ranges: TIMES,
  customFields: customFieldsType(resource),
  ...(resource.selectionRules ? { selectionRules: resource.selectionRules } : {}),
})

/** By column of ids, what they name. */
const namesOf = ({ expand = {}, references, names }: Resource): Readonly<Record<string, Named>> => ({
  ...Object.fromEntries(
    Object.values(expand).flatMap(({ by, to, within }) => (within === undefined ? [[by, to] as const] : [])),
  ),
  ...references,
  ...names,
})

const isPaged = (resource: Resource): boolean => resource.paged ?? true

/** Whether it is the first page of all there is, which is read without waiting for one answer before the next question. */
const isPipelined = (resource: Resource, query: ListQuery): boolean =>
  isPaged(resource) && resource.compute === undefined && wantsFirstPage(query)

export function registerList(app: FastifyInstance, deps: RouteDeps, resource: Resource): void {
  const spec = specOf(resource)
  const url = `/v1/${resource.path}`
  const shape = { ...filterQuery(spec), ...ExpandQuery, ...orderQuery(spec) }
  readRoute(app, deps, {
    ...about(resource, 'VIEW', `List the ${pluralOf(resource.objectType)}.`),
    method: 'GET',
    url,
    query: Shape(isPaged(resource) ? { ...shape, ...SliceQuery } : shape),
    response: isPaged(resource) ? PageOf(resource.view) : Type.Object({ data: Type.Array(resource.view) }),
    isPipelined: ({ query }) => isPipelined(resource, query as ListQuery),
    handle: async (uow, { query: given }) => {
      const query = given as ListQuery
      const conditions = isPipelined(resource, query) ? [] : await filterConditions(uow, spec, query)
      const of = { url, query, conditions, order: orderOf(spec, query) }
      if (isPaged(resource)) return await answerSlice(uow, resource, of)
      const rows = await listAll<StoredRow>(uow, spec, { ...of, max: UNPAGED_MAX })
      return { data: await viewsOf(uow, resource, rows, listOf(query['expand[]'])) }
    },
  })
}

export function registerSearch(app: FastifyInstance, deps: RouteDeps, resource: Resource): void {
  const spec = specOf(resource)
  const url = `/v1/${resource.path}/search`
  readRoute(app, deps, {
    ...about(resource, 'VIEW', `Search the ${pluralOf(resource.objectType)}: every field that is sent must match.`),
    method: 'POST',
    url,
    query: Shape({ ...ExpandQuery, ...orderQuery(spec), ...SliceQuery }),
    body: SearchBody,
    response: PageOf(resource.view),
    handle: async (uow, { query: given, body }) => {
      const query = given as ListQuery
      const order = orderOf(spec, query, 'asc')
      const conditions = await searchConditions(uow, spec, body)
      return await answerSlice(uow, resource, { url, query, conditions, order })
    },
  })
}

async function answerSlice(
  uow: ReadUow,
  resource: Resource,
  of: {
    readonly url: string
    readonly query: ListQuery
    readonly conditions: readonly SQL[]
    readonly order: ListOrder
  },
): Promise<object> {
  const slice = sliceOf(of.query)
  const sliced = await listSlice<StoredRow>(uow, resource, { ...of, slice })
  const data = await viewsOf(uow, resource, sliced.rows, listOf(of.query['expand[]']))
  return sliceView(of.url, of.query, { slice, sliced, data })
}

export const about = (resource: Resource, action: 'VIEW' | 'CREATE' | 'UPDATE' | 'DELETE', summary: string) => ({
  permission: `${resource.objectType}.${action}` as const,
  summary,
  tag: resource.path,
})
