// One part of the rows of a table, filtered and in order, as a page or by a cursor.
import { and, eq, getTableColumns, getTableName, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { ReadUow } from '../../shared/database/database.ts'
import { isListed } from '../resource/is-listed.ts'
import { inThisTenant } from '../resource/tenant-condition.ts'
import { isFirstPage, readFirstPage } from './first-page.ts'
import { readSlice } from './keyset.ts'
import { columnOf, type ListOrder, type ListSpec, type ListTable } from './list-spec.ts'
import type { Slice, Sliced } from './slice.ts'

/**
 * A page is planned as if so many rows were wanted: planned for fifty, PostgreSQL walks along the order of the list in the hope that what
 * matches comes soon, however few match.
 */
const PLANNED_ROWS = 50_000

/** One part of the rows of this tenant that meet the conditions; of each all columns, or `columns`. */
export async function listSlice<R>(
  uow: ReadUow,
  { table, customFields }: Pick<ListSpec, 'table'> & { readonly customFields?: unknown },
  of: {
    readonly conditions: readonly (SQL | undefined)[]
    readonly order: ListOrder
    readonly slice: Slice
    readonly columns?: Readonly<Record<string, PgColumn | SQL>>
  },
): Promise<Sliced<R>> {
  const { slice, order, columns } = of
  if (of.conditions.length === 0 && isFirstPage(slice))
    return await readFirstPage<R & object & { id: string }>(uow, {
      table,
      columns,
      order,
      limit: slice.limit,
      withFields: Boolean(customFields),
    })
  const where = and(inThisTenant(uow, table), isListed(table), ...of.conditions)
  const own = (id: string): SQL | undefined => and(inThisTenant(uow, table), eq(table.id, id))
  return await readSlice<R>({
    slice: of.slice,
    order: { column: columnOf(table, of.order.by), id: table.id, descending: of.order.descending },
    anchor: (column, id) => sql`(select ${column} from ${table} where ${own(id)})`,
    hasAnchor: async id => (await uow.tx.$count(table, own(id))) > 0,
    rows: async ({ condition, orderBy, limit, offset }) => {
      const matching = uow.tx
        .select({ id: table.id, [of.order.by]: columnOf(table, of.order.by) })
        .from(table)
        .where(and(where, condition))
        .orderBy(...orderBy)
        .limit(Math.max(PLANNED_ROWS, offset + limit))
      const shown = shownOf(table, { matching, orderBy, limit, offset, planned: of.conditions.length > 0 })
      // What is skipped or does not match is passed over by its ids: an index has them, and the rows need not be read.
      const byIds = offset > 0 || of.conditions.length > 0
      const own = byIds ? and(inThisTenant(uow, table), sql`${table.id} in (${shown})`) : and(where, condition)
      const rows = uow.tx
        .select(of.columns ?? getTableColumns(table))
        .from(table)
        .where(own)
        .orderBy(...orderBy)
      return (await rows.limit(limit)) as R[]
    },
    count: most => uow.tx.$count(uow.tx.select({ id: table.id }).from(table).where(where).limit(most).as('counted')),
  })
}

type Matching = {
  readonly matching: SQLWrapper
  readonly orderBy: readonly SQL[]
  readonly limit: number
  readonly offset: number
  /** Whether it is planned for all that match: a subquery is planned again for the rows that are taken of it, a materialized one is not. */
  readonly planned: boolean
}

/** The ids of a page of what matches. It has the name of the table, so that it is ordered by the same columns. */
function shownOf(table: ListTable, { matching, orderBy, limit, offset, planned }: Matching): SQL {
  const name = sql.identifier(getTableName(table))
  const page = sql`order by ${sql.join([...orderBy], sql`, `)} limit ${limit} offset ${offset}`
  return planned
    ? sql`with ${name} as materialized ${matching} select ${table.id} from ${name} ${page}`
    : sql`select ${table.id} from ${matching} as ${name} ${page}`
}
