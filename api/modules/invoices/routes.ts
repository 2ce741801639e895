// The routes of invoices of every kind.

import { inArray } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { idOf } from '../../../shared/ids.ts'
import { withFixedFields } from '../../http/body/fixed-fields.ts'
import { PageOf } from '../../http/pagination.ts'
import { IdParams } from '../../http/params.ts'
import { actionRoute, type RouteDeps, readRoute } from '../../http/route.ts'
import { wantsFirstPage } from '../../list/first-page.ts'
import {
  filterConditions,
  filterQuery,
  type ListQuery,
  orderOf,
  orderQuery,
  SearchBody,
  searchConditions,
} from '../../list/list-spec.ts'
import { SliceQuery } from '../../list/slice.ts'
import { actionsOn, fieldActionsOf } from '../../resource/changes/field-actions.ts'
import { CustomFieldValues } from '../../resource/custom-fields/schema.ts'
import { CUSTOM_FIELDS } from '../../resource/define-resource.ts'
import { ExpandQuery } from '../../resource/routes/list-routes.ts'
import { Nullable, OneOf, Optional, Shape } from '../../resource/shapes.ts'
import { answerOf, wholeInvoice } from './answer.ts'
import { updateInvoice } from './changes/update-invoice.ts'
import { archiveInvoice, voidInvoice } from './changes/void-invoice.ts'
import { refreshByKinds } from './issued/refresh-issued.ts'
import { subLinesOf } from './lines/sub-lines-of.ts'
import { INVOICE_LIST, listInvoices } from './list/list-invoices.ts'
import { Notes } from './one-off/schema.ts'
import type { InvoiceDeps } from './producer.ts'
import { type DocumentDeps, documentRoutes } from './rendering/routes.ts'
import { getInvoice } from './repository.ts'
import { InvoiceView } from './schema.ts'
import { isPaid, PAYMENT_STATUSES } from './settlement/settlement.ts'
import { invoices } from './table.ts'

const PATH = '/v1/invoices'
const Flag = Optional(OneOf('true', 'false'))

const Parts = { include_periods: Flag, include_lines: Flag }
const ListOptions = { ...orderQuery(INVOICE_LIST), ...SliceQuery, ...Parts }

const PatchBody = withFixedFields(
  Shape({
    status: Optional(OneOf('FINAL', 'VOID')),
    notes: Optional(Nullable(Notes)),
    on_hold: Optional(Type.Boolean()),
    payment_status: Optional(OneOf('UNPAID', 'PAID', 'PARTIALLY_PAID', 'OVERPAID')),
    paid: Optional(Type.Boolean()),
    custom_fields: Optional(Nullable(CustomFieldValues)),
  }),
  { view: InvoiceView },
)

const RefreshType = OneOf(
  'FULL',
  'CUSTOMER',
  'CUSTOM_FIELD',
  'BILLING_ENTITY',
  'PAYMENT_ACCEPTOR',
  'PO_NUMBER',
  'TAX_RATES',
)
const RefreshBody = Shape({
  type: Optional(RefreshType),
  types: Optional(Type.Array(RefreshType, { minItems: 1, maxItems: 10 })),
})

const about = (action: 'VIEW' | 'UPDATE', summary: string) => ({
  permission: `INVOICE.${action}` as const,
  summary,
  tag: 'invoices',
})

/** Registers the invoice routes. */
export function invoiceRoutes(app: FastifyInstance, deps: RouteDeps & InvoiceDeps & DocumentDeps): void {
  readingRoutes(app, deps)
  documentRoutes(app, deps)
  actionRoute(app, deps, {
    ...about('UPDATE', 'Make an invoice FINAL, put it on hold or release it, or mark a FINAL one paid or unpaid.'),
    method: 'PATCH',
    url: `${PATH}/:id`,
    status: 200,
    params: IdParams,
    query: Shape(actionsOn([CUSTOM_FIELDS])),
    body: PatchBody,
    response: InvoiceView,
    handle: async ({ tenant, actor }, { params, query, body }) => {
      const of = { tenant, actor, id: idOf('invo', params.id), actions: fieldActionsOf(query) }
      return await answerOf({ ...deps, tenant }, await updateInvoice(deps, of, body))
    },
  })
  actionRoute(app, deps, {
    ...about('UPDATE', 'Make an OPEN or DRAFT invoice VOID: it is never issued, and its period is not billed again.'),
    method: 'POST',
    url: `${PATH}/:id/void`,
    status: 200,
    params: IdParams,
    response: InvoiceView,
    handle: async ({ tenant, actor }, { params }) =>
      await answerOf({ ...deps, tenant }, await voidInvoice(deps, { tenant, actor, id: idOf('invo', params.id) })),
  })
  actionRoute(app, deps, {
    ...about('UPDATE', 'Archive a VOID invoice, or a DRAFT without a billing period.'),
    method: 'POST',
    url: `${PATH}/:id/archive`,
    status: 200,
    params: IdParams,
    response: InvoiceView,
    handle: async ({ tenant, actor }, { params }) =>
      await answerOf({ ...deps, tenant }, await archiveInvoice(deps, { tenant, actor, id: idOf('invo', params.id) })),
  })
  actionRoute(app, deps, {
    ...about(
      'UPDATE',
      'Compute an OPEN or DRAFT invoice again from what its parties, prices and usage are now. A FINAL one takes CUSTOM_FIELD, PAYMENT_ACCEPTOR and TAX_RATES.',
    ),
    method: 'POST',
    url: `${PATH}/:id/refresh`,
    status: 200,
    params: IdParams,
    body: RefreshBody,
    response: InvoiceView,
    handle: async ({ tenant, actor }, { params, body }) => {
      const types = [...(body.type ? [body.type] : []), ...(body.types ?? [])]
      return await answerOf(
        { ...deps, tenant },
        await refreshByKinds(deps, { tenant, actor, id: idOf('invo', params.id) }, types),
      )
    },
  })
}

function readingRoutes(app: FastifyInstance, deps: RouteDeps): void {
  readRoute(app, deps, {
    ...about('VIEW', 'List the invoices.'),
    method: 'GET',
    url: PATH,
    query: Shape({ ...filterQuery(INVOICE_LIST), paid: Flag, ...ListOptions }),
    response: PageOf(InvoiceView),
    // The test clocks of customers are read after their invoices.
    isPipelined: ({ query }, { environment }) => environment === 'LIVE' && wantsFirstPage(query as ListQuery),
    handle: async (uow, { query: given }) => {
      const query = given as ListQuery
      if (wantsFirstPage(query))
        return await listInvoices(uow, { path: PATH, query, conditions: [], order: orderOf(INVOICE_LIST, query) })
      const paid =
        query['paid'] === undefined
          ? []
          : [
              inArray(
                invoices.payment_status,
                PAYMENT_STATUSES.filter(status => isPaid(status) === (query['paid'] === 'true')),
              ),
            ]
      const conditions = [...(await filterConditions(uow, INVOICE_LIST, query)), ...paid]
      return await listInvoices(uow, { path: PATH, query, conditions, order: orderOf(INVOICE_LIST, query) })
    },
  })
  readRoute(app, deps, {
    ...about('VIEW', 'Search the invoices: every field given must match.'),
    method: 'POST',
    url: `${PATH}/search`,
    query: Shape({ ...ListOptions, ...ExpandQuery }),
    body: SearchBody,
    response: PageOf(InvoiceView),
    handle: async (uow, { query: given, body }) => {
      const query = given as ListQuery
      const conditions = await searchConditions(uow, INVOICE_LIST, body)
      return await listInvoices(uow, { path: `${PATH}/search`, query, conditions, order: orderOf(INVOICE_LIST, query) })
    },
  })
  readRoute(app, deps, {
    ...about('VIEW', 'Read an invoice with its periods and lines.'),
    method: 'GET',
    url: `${PATH}/:id`,
    params: IdParams,
    query: Shape({
      processing_only_customer_id: Optional(
        Type.String({
          ...{ minLength: 1, maxLength: 255 },
          description: 'Id of a customer: of sub lines that belong to customers, only its own are shown.',
        }),
      ),
    }),
    response: InvoiceView,
    handle: async (uow, { params, query }) =>
      subLinesOf(
        await wholeInvoice(uow, await getInvoice(uow, idOf('invo', params.id))),
        query['processing_only_customer_id'],
      ),
  })
}
