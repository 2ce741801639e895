// The routes that explain the figures of an invoice.
import type { FastifyInstance } from 'fastify'
import { type Actor, readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { PageOf } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import { actionRoute, type RouteDeps } from '../../../http/route.ts'
import { IdText, Shape } from '../../../resource/shapes.ts'
import { lineId } from '../../invoices/document/lay-out.ts'
import { getInvoice } from '../../invoices/repository.ts'
import type { LineView } from '../../invoices/schema.ts'
import { type InvoiceRow, isOpenEnded } from '../../invoices/table.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { basisOfLine, isCombined } from './combined-parts.ts'
import { explainLine } from './explain-line.ts'
import { listLineEvents } from './line-events.ts'
import { getReceipt } from './receipt/receipts.ts'
import { type Basis, currentBasis, isOfSubscription, pinnedBasis, withUsage } from './reprice.ts'
import { LineEvent, LineEventQuery, LineExplanation, Receipt, ReceiptQuery, Verification } from './schema.ts'
import { verifyInvoice } from './verify-invoice.ts'

const PATH = '/v1/invoices/:id'
const LineParams = Shape({ ...IdParams.properties, line_id: IdText('line of this invoice') })
const view = { tag: 'invoices', method: 'GET', status: 200 } as const
type Deps = RouteDeps & BillingDeps

/** Registers the calls. */
export function whyRoutes(app: FastifyInstance, deps: Deps): void {
  actionRoute(app, deps, {
    ...view,
    permission: 'INVOICE.VIEW',
    summary: 'Explain a line of an invoice: usage, price, every step of its amount, and the rule of its tax.',
    url: `${PATH}/lines/:line_id/explanation`,
    params: LineParams,
    response: LineExplanation,
    handle: async ({ tenant, actor }, { params }) => {
      const { row, line } = await findLine(deps, tenant, params)
      const found = await pricedFrom(deps, { tenant, actor, row, lineId: line.id })
      return { ...explainLine(row, { ...line, id: found.id }, found.basis), invoice_line_id: line.id }
    },
  })
  actionRoute(app, deps, {
    ...view,
    permission: 'METER_DATA.VIEW',
    summary: 'List the events that a line of an invoice counts, in the order of their time.',
    url: `${PATH}/lines/:line_id/events`,
    params: LineParams,
    query: LineEventQuery,
    response: PageOf(LineEvent),
    handle: async ({ tenant, actor }, { params, query }) => {
      const { row, line } = await findLine(deps, tenant, params)
      const { basis, id } = await pricedFrom(deps, { tenant, actor, row, lineId: line.id, figures: false })
      if (basis === null) throw noUsage(line.id)
      const charge = basis.charges.find(({ key }) => lineId(key) === id) ?? null
      const path = `/v1/invoices/${params.id}/lines/${params.line_id}/events`
      return await listLineEvents(deps, { tenant, path, basis, charge, query })
    },
  })
  actionRoute(app, deps, {
    permission: 'INVOICE.VIEW',
    summary:
      'Verify a FINAL invoice: price it again from the log and from what was kept with it, and compare byte for byte.',
    tag: 'invoices',
    method: 'POST',
    status: 200,
    url: `${PATH}/verify`,
    params: IdParams,
    response: Verification,
    handle: ({ tenant }, { params }) => verifyInvoice(deps, tenant, idOf('invo', params.id)),
  })
  actionRoute(app, deps, {
    ...view,
    permission: 'INVOICE.VIEW',
    summary: 'Read the usage receipt of a FINAL invoice, with the proof that an event is in it.',
    url: `${PATH}/receipt`,
    params: IdParams,
    query: ReceiptQuery,
    response: Receipt,
    handle: ({ tenant }, { params, query }) =>
      getReceipt(deps, { tenant, id: idOf('invo', params.id), reference: query.reference }),
  })
}

const noUsage = (lineIdText: string): AppError =>
  new AppError('INVALID_OPERATION', 'Only lines of invoices for subscriptions count events.', {
    field: 'line_id',
    resourceId: lineIdText,
    resourceType: 'INVOICE_LINE',
  })

/** What the invoice is priced from; includes its usage figures by default. */
async function basisOf(
  deps: BillingDeps,
  of: { readonly tenant: Tenant; readonly actor: Actor; readonly row: InvoiceRow; readonly figures?: false },
): Promise<Basis> {
  const { tenant, row, figures } = of
  if (isOpenEnded(row)) return await currentBasis(deps, of)
  const basis = await pinnedBasis(deps, tenant, row)
  return figures === false ? basis : await withUsage(deps, tenant, basis)
}

/**
 * What the invoice of a line is priced from, and the id of the line on it: with an invoice for several subscriptions, that
 * of the subscription of the line. Null for an invoice that is for no subscription.
 */
async function pricedFrom(
  deps: BillingDeps,
  of: {
    readonly tenant: Tenant
    readonly actor: Actor
    readonly row: InvoiceRow
    readonly lineId: string
    readonly figures?: false
  },
): Promise<{ readonly basis: Basis | null; readonly id: string }> {
  const none = { basis: null, id: of.lineId }
  if (isCombined(of.row)) return (await basisOfLine(deps, of.tenant, of)) ?? none
  return isOfSubscription(of.row) ? { ...none, basis: await basisOf(deps, of) } : none
}

/** Throws RESOURCE_NOT_FOUND when the invoice or the line does not exist. */
async function findLine(
  deps: Pick<BillingDeps, 'database'>,
  tenant: Tenant,
  of: { readonly id: string; readonly line_id: string },
): Promise<{ readonly row: InvoiceRow; readonly line: LineView }> {
  const row = await readTenant(deps.database, tenant, uow => getInvoice(uow, idOf('invo', of.id)))
  const line = row.content.periods
    .flatMap(({ groups }) => groups.flatMap(({ lines }) => lines))
    .find(({ id }) => id === of.line_id)
  if (line) return { row, line }
  throw new AppError('RESOURCE_NOT_FOUND', `The invoice has no line ${JSON.stringify(of.line_id)}.`, {
    resourceType: 'INVOICE_LINE',
  })
}
