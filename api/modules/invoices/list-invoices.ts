// The list and the search of invoices. Ordered by creation, newest first, ties broken by id, so that paging returns each once.
import { and, asc, count, desc, eq, gte, ilike, inArray, like, lt, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { ReadUow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { dateRange, pageOf, pageView } from '../../http/pagination.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { type InvoiceStatus, invoices } from './table.ts'
import { invoiceView } from './view.ts'

export const ORDERABLE = ['created_at', 'updated_at', 'invoice_date', 'due_date', 'invoice_number'] as const
export const SEARCHABLE = [
  'invoice_number',
  'status',
  'customer_id',
  'pricing_plan_subscription_id',
  'billing_currency',
  'payment_status',
] as const
export const RANGES = ['invoice_date', 'due_date', 'created_at', 'updated_at'] as const

export type ListOptions = {
  readonly page?: string
  readonly limit?: string
  readonly order_by?: (typeof ORDERABLE)[number]
  readonly order_direction?: string
  readonly include_periods?: string
  readonly include_lines?: string
}

export type InvoiceFilters = {
  readonly customer_id?: string
  readonly statuses?: readonly InvoiceStatus[]
  readonly invoice_date?: string
  readonly on_hold?: string
  readonly paid?: string
  readonly pricing_plan_subscription_id?: string
}

/** The conditions of the list's filters. Throws INVALID_FIELD on a range that is none. */
export function filterConditions(filters: InvoiceFilters): SQL[] {
  const { customer_id, statuses, invoice_date, on_hold, paid, pricing_plan_subscription_id } = filters
  return [
    ...(customer_id === undefined ? [] : [eq(invoices.customer_id, customer_id)]),
    ...(statuses === undefined || statuses.length === 0 ? [] : [inArray(invoices.status, [...statuses])]),
    ...(invoice_date === undefined ? [] : within('invoice_date', invoice_date, 'invoice_date')),
    ...(on_hold === undefined ? [] : [eq(invoices.on_hold, on_hold === 'true')]),
    ...(paid === undefined ? [] : [eq(invoices.payment_status, paid === 'true' ? 'PAID' : 'UNPAID')]),
    ...(pricing_plan_subscription_id === undefined
      ? []
      : [eq(invoices.pricing_plan_subscription_id, pricing_plan_subscription_id)]),
  ]
}

function within(column: (typeof RANGES)[number], text: string, field: string): SQL[] {
  const { from, before } = dateRange(field, text)
  return [
    ...(from === null ? [] : [gte(invoices[column], from)]),
    ...(before === null ? [] : [lt(invoices[column], before)]),
  ]
}

export type InvoiceSearch = {
  readonly search_fields?: readonly {
    readonly name: string
    readonly value: string
    readonly wildcard_start?: boolean
    readonly wildcard_end?: boolean
    readonly ignore_case?: boolean
  }[]
  readonly filter_fields?: readonly {
    readonly name: string
    readonly value?: string
    readonly values?: readonly string[]
  }[]
}

/** The conditions of a search body: text fields may hold wildcards, date fields are ranges `[from,to]`; all must match. */
export function searchConditions(body: InvoiceSearch): SQL[] {
  const searches = (body.search_fields ?? []).map((search, index) => {
    const column = searchable(search.name, `search_fields.${index}.name`)
    const escaped = search.value.replace(/[\\%_]/g, '\\$&')
    const pattern = `${search.wildcard_start ? '%' : ''}${escaped}${search.wildcard_end ? '%' : ''}`
    return (search.ignore_case ? ilike : like)(column, pattern)
  })
  const filters = (body.filter_fields ?? []).flatMap((filter, index) => {
    const range = RANGES.find(name => name === filter.name)
    if (range) return within(range, filter.value ?? filter.values?.[0] ?? '', `filter_fields.${index}.value`)
    return [
      inArray(searchable(filter.name, `filter_fields.${index}.name`), [...(filter.values ?? [filter.value ?? ''])]),
    ]
  })
  return [...searches, ...filters]
}

function searchable(name: string, field: string): PgColumn {
  const known = SEARCHABLE.find(column => column === name)
  if (known) return invoices[known]
  throw new AppError('INVALID_FIELD', `${field} must be one of ${[...SEARCHABLE, ...RANGES].join(', ')}.`, { field })
}

/** One page of the invoices that meet the conditions. `url` is the request's own, for the links. */
export async function listInvoices(
  uow: ReadUow,
  of: { readonly conditions: readonly SQL[]; readonly options: ListOptions; readonly url: string },
): Promise<object> {
  const { options } = of
  const page = pageOf({
    ...(options.page === undefined ? {} : { page: options.page }),
    ...(options.limit === undefined ? {} : { limit: options.limit }),
  })
  const where = and(inThisTenant(uow, invoices), ...of.conditions)
  const direction = (options.order_direction ?? 'desc').toLowerCase() === 'asc' ? asc : desc
  const rows = await uow.tx
    .select()
    .from(invoices)
    .where(where)
    .orderBy(direction(invoices[options.order_by ?? 'created_at']), direction(invoices.id))
    .limit(page.limit)
    .offset((page.page - 1) * page.limit)
  const [counted] = await uow.tx.select({ total: count() }).from(invoices).where(where)
  const lines = options.include_lines === 'true'
  const parts = { periods: lines || options.include_periods === 'true', lines }
  return pageView(
    of.url,
    page,
    rows.map(row => invoiceView(row, parts)),
    counted?.total ?? 0,
  )
}
