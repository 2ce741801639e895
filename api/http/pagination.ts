// Pages of a list: page and limit in, `{data, page, limit, total_number_of_pages, links}` out (semantics 9.5).
import Type from 'typebox'
import { AppError } from '../../shared/errors.ts'
import { formatInstant, type Instant, instantOf, parseInstant } from '../../shared/time.ts'
import { bySchema } from './body/by-schema.ts'

export const LIMIT_DEFAULT = 50
export const LIMIT_MAX = 100
/** Lists that the interface does not page answer at most this many. */
export const UNPAGED_MAX = 10_000
const PAGE_MAX = 1_000_000

export const PageQuery = {
  page: Type.Optional(Type.String({ pattern: '^[0-9]{1,16}$', description: `From 1 to ${PAGE_MAX}.` })),
  limit: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,16}$', description: `Default ${LIMIT_DEFAULT}, at most ${LIMIT_MAX}.` }),
  ),
}

/** What a list by cursors leaves out. */
export const NOT_BY_CURSOR = 'Absent when the list was read by a cursor.'

/** The shape of one page of `item`; the same item gives the same schema, which is then compiled once. */
export const PageOf = bySchema(item =>
  Type.Object({
    data: Type.Array(item),
    page: Type.Optional(Type.Integer({ description: NOT_BY_CURSOR })),
    limit: Type.Integer(),
    total_number_of_pages: Type.Optional(Type.Integer({ description: NOT_BY_CURSOR })),
    has_more: Type.Boolean({ description: 'Whether more entries follow, or precede with ending_before.' }),
    links: Type.Object(
      {
        first: Type.String(),
        previous: Type.Union([Type.String(), Type.Null()]),
        current: Type.String(),
        next: Type.Union([Type.String(), Type.Null()]),
      },
      { title: 'PageLinks' },
    ),
  }),
)

export type Page = { readonly page: number; readonly limit: number }

/** Page and limit from the query's text. Throws INVALID_FIELD outside their bounds. */
export function pageOf(query: { page?: string; limit?: string }): Page {
  const page = Number(query.page ?? '1')
  const limit = Number(query.limit ?? LIMIT_DEFAULT)
  if (page < 1 || page > PAGE_MAX) {
    const message = `page is from 1 to ${PAGE_MAX}; to read on through a long list, use starting_after.`
    throw new AppError('INVALID_FIELD', message, { field: 'page' })
  }
  if (limit < 1 || limit > LIMIT_MAX)
    throw new AppError('INVALID_FIELD', `limit is from 1 to ${LIMIT_MAX}.`, { field: 'limit' })
  return { page, limit }
}

/** The answer of one page. `url` is the request's own, whose other parameters the links keep. */
export function pageView(url: string, page: Page, data: readonly unknown[], total: number): object {
  const pages = Math.max(1, Math.ceil(total / page.limit))
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const parameters = new URLSearchParams(searchParams)
  const link = (number: number): string => {
    parameters.set('page', String(number))
    parameters.set('limit', String(page.limit))
    return `${pathname}?${parameters}`
  }
  return {
    data,
    page: page.page,
    limit: page.limit,
    total_number_of_pages: pages,
    has_more: page.page < pages,
    links: {
      first: link(1),
      previous: page.page > 1 ? link(Math.min(page.page - 1, pages)) : null,
      current: link(page.page),
      next: page.page < pages ? link(page.page + 1) : null,
    },
  }
}

/** A repeatable query parameter as a list, however often it was given. */
export const listOf = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value]

/**
 * `[from,to]` of a date filter as `[from, before)`; either end may be empty. A bound matches the whole second it lies in.
 * Throws INVALID_FIELD on anything else, and for a range that ends before it begins.
 */
export function dateRange(field: string, text: string): { from: string | null; before: string | null } {
  const match = /^\[([^,\]]*),([^,\]]*)\]$/.exec(text)
  const [from, to] = match ? [match[1] ?? '', match[2] ?? ''] : [text, text]
  const read = (value: string): Instant | null => {
    if (value === '') return null
    const at = parseInstant(value)
    if (at !== null) return at
    const message = `${field} is a range [from,to] of ISO 8601 times with an offset; either may be empty.`
    throw new AppError('INVALID_FIELD', message, { field })
  }
  const [first, last] = [read(from), read(to)]
  const before = last === null ? null : formatInstant(instantOf(last + 1_000))
  const start = first === null ? null : formatInstant(first)
  if (start !== null && before !== null && start >= before)
    throw new AppError('INVALID_FIELD', `${field} is a range [from,to]: from must not be after to.`, { field })
  return { from: start, before }
}
