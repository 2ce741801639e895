// The list and the search of invoices. Ordered by creation, newest first, ties by id.
import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import Type from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { listOf } from '../../../http/pagination.ts'
import { listSlice } from '../../../list/list-slice.ts'
import type { ListOrder, ListQuery, ListSpec } from '../../../list/list-spec.ts'
import { idsNamed } from '../../../list/named-resource.ts'
import { sliceOf, sliceView } from '../../../list/slice.ts'
import { customFieldsOfRows } from '../../../resource/custom-fields/values.ts'
import { timesOfCustomers } from '../../../test-clock/test-clock.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { checkExpand } from '../expand-invoice.ts'
import { InvoiceStatus } from '../schema.ts'
import { HIDDEN_COLUMNS, invoices, type ShownInvoice } from '../table.ts'
import { invoiceView } from '../view.ts'
import { invoicesByNumber } from './by-number.ts'

const IdOrReference = Type.String({ maxLength: 255 })

/**
 * The invoices of a subscription, those that its invoices were issued in with others, and what credits or copies any of them: a copy
 * is billed by no subscription, and takes the place of an invoice of one.
 */
const isOfSubscription = (uow: ReadUow, named: readonly string[]): SQL => {
  const { platformId, environment } = uow.tenant
  return sql`${invoices.id} in (with recursive own as (
      select o.id, o.combined_into_id from ${invoices} o
      where o.platform_id = ${platformId} and o.environment = ${environment}
        and o.pricing_plan_subscription_id = any(${idsNamed(uow, named, 'PRICING_PLAN_SUBSCRIPTION')})
      union select c.id, c.combined_into_id from own
      join ${invoices} c on c.original_invoice_id = any(array[own.id, own.combined_into_id])
      where c.platform_id = ${platformId} and c.environment = ${environment})
    select unnest(array[own.id, own.combined_into_id]) from own)`
}

export const INVOICE_LIST: ListSpec = {
  table: invoices,
  filters: {
    customer_id: { kind: 'equals', column: 'customer_id', schema: IdOrReference },
    'statuses[]': { kind: 'oneOf', column: 'status', schema: InvoiceStatus },
    invoice_date: { kind: 'range', column: 'invoice_date' },
    created_at: { kind: 'range', column: 'created_at' },
    updated_at: { kind: 'range', column: 'updated_at' },
    on_hold: { kind: 'boolean', column: 'on_hold' },
    pricing_plan_subscription_id: { kind: 'related', condition: isOfSubscription, schema: IdOrReference },
  },
  names: { customer_id: () => customerResource, pricing_plan_subscription_id: 'PRICING_PLAN_SUBSCRIPTION' },
  orderBy: ['created_at', 'updated_at', 'invoice_date', 'due_date', 'invoice_number'],
  searchable: [
    'invoice_number',
    'status',
    'customer_id',
    'pricing_plan_subscription_id',
    'billing_currency',
    'payment_status',
  ],
  byPart: { invoice_number: invoicesByNumber },
  ranges: ['invoice_date', 'due_date', 'created_at', 'updated_at'],
  customFields: 'INVOICE',
}

const hidden: ReadonlySet<string> = new Set(HIDDEN_COLUMNS)
const SHOWN = Object.fromEntries(Object.entries(getTableColumns(invoices)).filter(([name]) => !hidden.has(name)))

/** Periods and their lines are most of the size of an invoice; a list that does not show them does not read them. */
const WITHOUT_PERIODS = {
  ...SHOWN,
  content: sql`${invoices.content} - 'periods'`.mapWith(invoices.content),
}

/** One page of the invoices that meet the conditions. `path` is that of the request, for the links. */
export async function listInvoices(
  uow: ReadUow,
  of: {
    readonly path: string
    readonly query: ListQuery
    readonly conditions: readonly SQL[]
    readonly order: ListOrder
  },
): Promise<object> {
  const { path, query } = of
  checkExpand(listOf(query['expand[]']))
  const slice = sliceOf(query)
  const lines = query['include_lines'] === 'true'
  const parts = { periods: lines || query['include_periods'] === 'true', lines }
  const columns = parts.periods ? SHOWN : WITHOUT_PERIODS
  const sliced = await listSlice<Omit<ShownInvoice, 'custom_fields'>>(uow, INVOICE_LIST, { ...of, columns, slice })
  const fields = await customFieldsOfRows(uow, sliced.rows)
  const timeOf = await timesOfCustomers(
    uow,
    sliced.rows.map(({ customer_id }) => customer_id),
  )
  const data = sliced.rows.map(row => {
    // They are rows of this list alone.
    const whole = Object.assign(row, { custom_fields: fields.get(row.id) ?? [] })
    return invoiceView(whole, timeOf(row.customer_id), parts)
  })
  return sliceView(path, query, { slice, sliced, data })
}
