// A list of a table's rows as a route: of all of them, or of those that belong to one thing.
import type { SQL } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import type { ReadUow } from '../../shared/database/database.ts'
import { PageOf } from '../http/pagination.ts'
import { IdParams } from '../http/params.ts'
import type { Permission } from '../http/permissions.ts'
import { type RouteDeps, readRoute } from '../http/route.ts'
import { listPage, pageQuery } from './list-page.ts'
import type { ListSpec } from './list-spec.ts'

export type ListRoute<R> = {
  readonly tag: string
  readonly permission: Permission
  readonly summary: string
  /** With `:id` for the entries of one thing. */
  readonly url: string
  readonly list: ListSpec
  /** The shape of an entry. */
  readonly item: TSchema
  /** The entries of the thing with this id. Throws RESOURCE_NOT_FOUND when there is none. */
  readonly of?: (uow: ReadUow, id: string) => Promise<SQL>
  /** What is shown of the rows, in their order. */
  readonly views: (rows: readonly R[], uow: ReadUow) => readonly object[] | Promise<readonly object[]>
}

export function listRoute<R extends { readonly id: string }>(
  app: FastifyInstance,
  deps: RouteDeps,
  { list, item, of, views, ...route }: ListRoute<R>,
): void {
  const shapes = { ...route, method: 'GET', query: pageQuery(list), response: PageOf(item) } as const
  const answer = (uow: ReadUow, query: unknown, path: string, conditions: readonly SQL[]) =>
    listPage<R>(uow, list, { path, query, conditions, views: rows => views(rows, uow) })
  if (!of) {
    readRoute(app, deps, { ...shapes, handle: (uow, { query }) => answer(uow, query, route.url, []) })
    return
  }
  readRoute(app, deps, {
    ...shapes,
    params: IdParams,
    handle: async (uow, { params: { id }, query }) =>
      answer(uow, query, route.url.replace(':id', encodeURIComponent(id)), [await of(uow, id)]),
  })
}
