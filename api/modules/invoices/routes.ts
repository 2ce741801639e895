// The calls on invoices. Nothing creates one but billing.
import type { FastifyInstance } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { readTenant } from '../../../shared/database/database.ts'
import { listOf, PageOf, PageQuery } from '../../http/pagination.ts'
import { actionRoute, type RouteDeps, readRoute } from '../../http/route.ts'
import { OneOf, Optional, Shape, Timestamp } from '../../resource/shapes.ts'
import type { InvoiceDeps } from './compute-invoice.ts'
import { filterConditions, listInvoices, ORDERABLE, searchConditions } from './list-invoices.ts'
import { renderInvoicePdf } from './pdf/render-pdf.ts'
import { previewInvoices } from './preview-invoices.ts'
import { refreshInvoice } from './refresh-invoice.ts'
import { getInvoice } from './repository.ts'
import { InvoiceView } from './schema.ts'
import type { InvoiceStatus } from './table.ts'
import { updateInvoice } from './update-invoice.ts'
import { invoiceView } from './view.ts'

const PATH = '/v1/invoices'
const IdParams = Shape({ id: Type.String({ minLength: 1, maxLength: 255 }) })
const IdFilter = Optional(Type.String({ maxLength: 64 }))
const Status = OneOf('OPEN', 'DRAFT', 'FINAL', 'VOID', 'ARCHIVED')
const Flag = Optional(OneOf('true', 'false'))
const Repeatable = (item: TSchema) => Optional(Type.Union([item, Type.Array(item, { maxItems: 100 })]))

const PageOptions = {
  ...PageQuery,
  order_by: Optional(OneOf(...ORDERABLE)),
  order_direction: Optional(OneOf('asc', 'desc', 'ASC', 'DESC')),
  include_periods: Flag,
  include_lines: Flag,
}

const ListQuery = Shape({
  ...PageOptions,
  customer_id: IdFilter,
  'statuses[]': Repeatable(Status),
  invoice_date: Optional(Type.String({ maxLength: 100, description: 'A range [from,to]; either may be empty.' })),
  on_hold: Flag,
  paid: Flag,
  pricing_plan_subscription_id: IdFilter,
})

const SearchValue = Type.String({ maxLength: 255 })
const SearchBody = Shape({
  search_fields: Optional(
    Type.Array(
      Shape({
        name: Type.String(),
        value: SearchValue,
        wildcard_start: Optional(Type.Boolean()),
        wildcard_end: Optional(Type.Boolean()),
        ignore_case: Optional(Type.Boolean()),
      }),
      { maxItems: 20 },
    ),
  ),
  filter_fields: Optional(
    Type.Array(
      Shape({
        name: Type.String(),
        value: Optional(SearchValue),
        values: Optional(Type.Array(SearchValue, { maxItems: 100 })),
      }),
      { maxItems: 20 },
    ),
  ),
})

const PatchBody = Shape({
  status: Optional(Type.Literal('FINAL')),
  on_hold: Optional(Type.Boolean()),
  payment_status: Optional(OneOf('UNPAID', 'PAID', 'PARTIALLY_PAID', 'OVERPAID')),
  paid: Optional(Type.Boolean()),
})

const INVOICES_PER_SCHEDULE_MAX = 12
const PreviewBody = Shape({
  pricing_plan_subscription_id: Type.String({ minLength: 1, maxLength: 64 }),
  start_at: Optional(Timestamp),
  invoices_per_schedule: Optional(Type.Integer({ minimum: 1, maximum: INVOICES_PER_SCHEDULE_MAX })),
})
const { id: _id, created_at: _created, updated_at: _updated, ...previewed } = InvoiceView.properties
const InvoicePreview = Type.Object(previewed, { title: 'InvoicePreview' })
const PreviewAnswer = Type.Object({
  invoice: InvoicePreview,
  first_invoice: InvoicePreview,
  invoice_infos: Type.Array(
    Type.Object({ pricing_plan_schedule_id: Type.String(), invoices: Type.Array(InvoicePreview) }),
  ),
})

const RefreshType = OneOf('FULL', 'CUSTOMER', 'BILLING_ENTITY', 'TAX_RATES')
const RefreshBody = Shape({
  type: Optional(RefreshType),
  types: Optional(Type.Array(RefreshType, { minItems: 1, maxItems: 10 })),
})

const about = (action: 'VIEW' | 'UPDATE', summary: string) => ({
  permission: `INVOICE.${action}` as const,
  summary,
  tag: 'invoices',
})

/** Registers the invoice calls. */
export function invoiceRoutes(app: FastifyInstance, deps: RouteDeps & Omit<InvoiceDeps, 'database'>): void {
  const { database, usage, failpoint } = deps
  const invoicing: InvoiceDeps = { database, usage, ...(failpoint ? { failpoint } : {}) }
  readingRoutes(app, deps)
  actionRoute(app, deps, {
    ...about('UPDATE', 'Make an invoice FINAL, put it on hold or release it, or mark a FINAL one paid or unpaid.'),
    method: 'PATCH',
    url: `${PATH}/:id`,
    status: 200,
    params: IdParams,
    body: PatchBody,
    response: InvoiceView,
    handle: async ({ tenant, actor }, { params, body }) =>
      invoiceView(await updateInvoice(invoicing, { tenant, actor, id: params.id }, body)),
  })
  actionRoute(app, deps, {
    ...about('UPDATE', 'Compute an OPEN or DRAFT invoice again from what its parties, prices and usage are now.'),
    method: 'POST',
    url: `${PATH}/:id/refresh`,
    status: 200,
    params: IdParams,
    body: RefreshBody,
    response: InvoiceView,
    handle: async ({ tenant, actor }, { params }) =>
      invoiceView(await refreshInvoice(invoicing, tenant, actor, params.id)),
  })
  actionRoute(app, deps, {
    ...about('VIEW', 'The invoices a subscription will have. Creates nothing.'),
    method: 'POST',
    url: `${PATH}/preview`,
    status: 200,
    body: PreviewBody,
    response: PreviewAnswer,
    handle: ({ tenant }, { body }) => previewInvoices(invoicing, tenant, body),
  })
}

function readingRoutes(app: FastifyInstance, deps: RouteDeps): void {
  readRoute(app, deps, {
    ...about('VIEW', 'List the invoices.'),
    method: 'GET',
    url: PATH,
    query: ListQuery,
    response: PageOf(InvoiceView),
    handle: (uow, { query }) => {
      const statuses = listOf(query['statuses[]'] as string | string[] | undefined) as InvoiceStatus[]
      const { 'statuses[]': _statuses, ...filters } = query
      return listInvoices(uow, {
        conditions: filterConditions({ ...filters, statuses }),
        options: query,
        url: urlOf(PATH, query),
      })
    },
  })
  readRoute(app, deps, {
    ...about('VIEW', 'Search the invoices: every field given must match.'),
    method: 'POST',
    url: `${PATH}/search`,
    query: Shape(PageOptions),
    body: SearchBody,
    response: PageOf(InvoiceView),
    handle: (uow, { query, body }) =>
      listInvoices(uow, { conditions: searchConditions(body), options: query, url: urlOf(`${PATH}/search`, query) }),
  })
  readRoute(app, deps, {
    ...about('VIEW', 'Read one invoice with its periods and lines.'),
    method: 'GET',
    url: `${PATH}/:id`,
    params: IdParams,
    query: Shape({}),
    response: InvoiceView,
    handle: async (uow, { params }) => invoiceView(await getInvoice(uow, params.id)),
  })
  actionRoute(app, deps, {
    ...about('VIEW', 'The invoice as a PDF.'),
    method: 'GET',
    url: `${PATH}/:id/pdf`,
    status: 200,
    params: IdParams,
    response: Type.Unsafe<Buffer>(Type.String({ format: 'binary', description: 'application/pdf' })),
    handle: async ({ tenant, database }, { params }, reply) => {
      const row = await readTenant(database, tenant, uow => getInvoice(uow, params.id))
      const name = (row.invoice_number ?? `draft-${row.id}`).replace(/[^0-9A-Za-z._-]/g, '_')
      reply.header('content-type', 'application/pdf').header('content-disposition', `inline; filename="${name}.pdf"`)
      return await renderInvoicePdf(invoiceView(row))
    },
  })
}

/** The request's own address, with the parameters it was asked with. */
function urlOf(path: string, query: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of listOf(value as string | string[] | undefined)) parameters.append(name, one)
  }
  return `${path}?${parameters}`
}
