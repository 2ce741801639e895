// A list as a route answers it: one part of a table's rows, filtered and in order as the query says, with links to the next part.
import type { SQL } from 'drizzle-orm'
import type { ReadUow } from '../../shared/database/database.ts'
import { Shape } from '../resource/shapes.ts'
import { listSlice } from './list-slice.ts'
import { filterConditions, filterQuery, type ListQuery, type ListSpec, orderOf, orderQuery } from './list-spec.ts'
import { SliceQuery, sliceOf, sliceView } from './slice.ts'

/** The query of such a list: its filters, its order, and a page or a cursor. */
export const pageQuery = (spec: ListSpec) => Shape({ ...SliceQuery, ...filterQuery(spec), ...orderQuery(spec) })

/**
 * Answers the list at this path. `conditions` hold besides those of the query; `views` gives what is shown of the rows, in their order.
 * Throws INVALID_FIELD for a filter or a cursor that names nothing here.
 */
export async function listPage<R extends { readonly id: string }>(
  uow: ReadUow,
  spec: ListSpec,
  of: {
    readonly path: string
    readonly query: unknown
    readonly conditions?: readonly SQL[]
    readonly views: (rows: readonly R[]) => readonly object[] | Promise<readonly object[]>
  },
): Promise<object> {
  const query = of.query as ListQuery
  const slice = sliceOf(query)
  const conditions = [...(of.conditions ?? []), ...(await filterConditions(uow, spec, query))]
  const sliced = await listSlice<R>(uow, spec, { conditions, order: orderOf(spec, query), slice })
  return sliceView(of.path, query, { slice, sliced, data: await of.views(sliced.rows) })
}
