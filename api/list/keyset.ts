// What follows or precedes an entry in a list that is ordered by one column and then by id, as a condition of a query. The entry's
// place is read by the database itself, so that no value is rounded on its way.
import { and, asc, desc, eq, gt, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { cursorNotFound, type Slice, type Sliced } from './slice.ts'

/** An order: a column, ties by id. PostgreSQL puts null last when ascending and first when descending. */
type Order = { readonly column: PgColumn; readonly id: PgColumn; readonly descending: boolean }

export type Read<R> = {
  readonly slice: Slice
  readonly order: Order
  /** `(select <column> from … )` of the row with the cursor's id, among those of this tenant. */
  readonly anchor: (column: PgColumn, id: string) => SQL
  /** Rows that also meet `condition`, of those the list is of. */
  readonly rows: (of: { condition: SQL | undefined; orderBy: SQL[]; limit: number; offset: number }) => Promise<R[]>
  readonly hasAnchor: (id: string) => Promise<boolean>
  /** How many there are, and no more than `most`. */
  readonly count: (most: number) => Promise<number>
}

/** Pages are counted up to so many entries: to count a year of a million takes longer than to read a page of it. */
export const COUNTED_MAX = 10_000

/** One part of a list. Throws INVALID_FIELD when the cursor names nothing. */
export async function readSlice<R>({ slice, order, anchor, rows, hasAnchor, count }: Read<R>): Promise<Sliced<R>> {
  const { limit } = slice
  if (slice.kind === 'PAGE') {
    const offset = (slice.page - 1) * limit
    const found = await rows({ condition: undefined, orderBy: orderBy(order), limit, offset })
    // A page that is not full is the last one, and its end is the number.
    const isLast = found.length < limit && (found.length > 0 || offset === 0)
    const total = isLast ? offset + found.length : await count(Math.max(COUNTED_MAX, offset + limit) + 1)
    return { rows: found, more: total > offset + limit, total }
  }
  const backwards = slice.kind === 'BEFORE'
  const towards = backwards ? { ...order, descending: !order.descending } : order
  const condition = beyond(towards, anchor(order.column, slice.id), slice.id)
  // Asked at once, so that both travel together.
  const [found, isThere] = await Promise.all([
    rows({ condition, orderBy: orderBy(towards), limit: limit + 1, offset: 0 }),
    hasAnchor(slice.id),
  ])
  if (!isThere) throw cursorNotFound(slice)
  const shown = found.slice(0, limit)
  return { rows: backwards ? shown.reverse() : shown, more: found.length > limit, total: null }
}

export const orderBy = ({ column, id, descending }: Order): SQL[] =>
  descending ? [desc(column), desc(id)] : [asc(column), asc(id)]

/** What comes after the entry in this order. */
function beyond({ column, id, descending }: Order, value: SQL, anchorId: string): SQL {
  const further = descending ? lt : gt
  const sameValue = and(eq(column, value), further(id, anchorId))
  if (column.notNull) return sql`(${or(further(column, value), sameValue)})`
  const amongNulls = and(isNull(column), further(id, anchorId))
  const fromNull = descending ? or(amongNulls, isNotNull(column)) : amongNulls
  const fromValue = descending
    ? or(further(column, value), sameValue)
    : or(further(column, value), sameValue, isNull(column))
  return sql`(${or(and(sql`${value} is null`, fromNull), and(sql`${value} is not null`, fromValue))})`
}
