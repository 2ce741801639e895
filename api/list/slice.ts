// Which part of a list a caller reads: a page by its number, or what follows or precedes one of its entries. Pages move while things
// are created; an entry stays where it is, so a reader that continues from the last one sees every entry once.
import Type from 'typebox'
import { AppError } from '../../shared/errors.ts'
import { listOf, PageQuery, pageOf, pageView } from '../http/pagination.ts'

const Cursor = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 64, description }))

/** The parameters that choose a part of a list. */
export const SliceQuery = {
  ...PageQuery,
  starting_after: Cursor('Id of the last entry read: what follows it, in the order of the list. Instead of page.'),
  ending_before: Cursor('Id of an entry: what precedes it, in the order of the list. Instead of page.'),
}

export const OrderDirection = Type.Optional(Type.Enum(['asc', 'desc', 'ASC', 'DESC']))

export type Slice =
  | { readonly kind: 'PAGE'; readonly page: number; readonly limit: number }
  | { readonly kind: 'AFTER' | 'BEFORE'; readonly id: string; readonly limit: number }

export type CursorSlice = Extract<Slice, { kind: 'AFTER' | 'BEFORE' }>
/** Of a list that is read by its cursors alone: `START` is its beginning. */
export type FeedSlice = CursorSlice | { readonly kind: 'START'; readonly limit: number }

type Query = Readonly<Record<string, string | string[] | undefined>>

/** What the query chooses. Throws INVALID_FIELD outside the bounds, and when it chooses in two ways. */
export function sliceOf(query: Query): Slice {
  const [page, limit, after, before] = ['page', 'limit', 'starting_after', 'ending_before'].map(
    name => listOf(query[name])[0],
  )
  const numbered = pageOf({ ...(page === undefined ? {} : { page }), ...(limit === undefined ? {} : { limit }) })
  if (after !== undefined && before !== undefined) throw bothWays('ending_before', 'starting_after')
  const id = after ?? before
  if (id === undefined) return { kind: 'PAGE', ...numbered }
  const kind = after === undefined ? 'BEFORE' : 'AFTER'
  if (page !== undefined) throw bothWays('page', kind === 'AFTER' ? 'starting_after' : 'ending_before')
  return { kind, id, limit: numbered.limit }
}

const bothWays = (field: string, other: string): AppError =>
  new AppError('INVALID_FIELD', `Send ${field} or ${other}, not both.`, { field })

/** What was read: the rows, whether there are more of them that way, and of a page how many there are in all. */
export type Sliced<R> = { readonly rows: readonly R[]; readonly more: boolean; readonly total: number | null }

/** The refusal of a cursor that names nothing here. */
export const cursorNotFound = ({ kind }: Slice): AppError => {
  const field = kind === 'BEFORE' ? 'ending_before' : 'starting_after'
  return new AppError('INVALID_FIELD', `${field} is the id of an entry of this list, and no entry has it.`, {
    field,
  })
}

/** The answer: the views of the rows, with links that keep the other parameters of the request. */
export function sliceView(
  path: string,
  query: Query,
  of: {
    readonly slice: Slice | FeedSlice
    readonly sliced: Sliced<{ readonly id: string }>
    readonly data: readonly unknown[]
  },
): object {
  const { slice, sliced, data } = of
  const url = urlOf(path, query)
  if (slice.kind === 'PAGE') return pageView(url, slice, data, sliced.total ?? 0)
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const link = (cursor: Readonly<Record<string, string>>): string => {
    const parameters = new URLSearchParams(searchParams)
    for (const name of ['page', 'starting_after', 'ending_before']) parameters.delete(name)
    for (const [name, value] of Object.entries(cursor)) parameters.set(name, value)
    parameters.set('limit', String(slice.limit))
    return `${pathname}?${parameters}`
  }
  const [first, last] = [sliced.rows[0]?.id, sliced.rows.at(-1)?.id]
  // On the side the cursor is on there is at least what it names.
  const isThere = (side: 'AFTER' | 'BEFORE'): boolean =>
    slice.kind === 'START' ? side === 'AFTER' && sliced.more : sliced.more || slice.kind !== side
  return {
    data,
    limit: slice.limit,
    has_more: sliced.more,
    links: {
      first: link({}),
      previous: first !== undefined && isThere('BEFORE') ? link({ ending_before: first }) : null,
      current: url,
      next: last !== undefined && isThere('AFTER') ? link({ starting_after: last }) : null,
    },
  }
}

function urlOf(path: string, query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const one of listOf(value)) parameters.append(name, one)
  return `${path}?${parameters}`
}

/** A part of a list that is in memory, in its order. */
export function sliceOfArray<R extends { readonly id: string }>(all: readonly R[], slice: Slice): Sliced<R> {
  const { limit } = slice
  if (slice.kind === 'PAGE') {
    const start = (slice.page - 1) * limit
    return { rows: all.slice(start, start + limit), more: all.length > start + limit, total: all.length }
  }
  const place = all.findIndex(({ id }) => id === slice.id)
  if (place === -1) throw cursorNotFound(slice)
  if (slice.kind === 'AFTER') {
    return { rows: all.slice(place + 1, place + 1 + limit), more: all.length > place + 1 + limit, total: null }
  }
  return { rows: all.slice(Math.max(0, place - limit), place), more: place > limit, total: null }
}
