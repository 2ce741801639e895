// The routes that create and credit invoices, and those for the lines that users add to any invoice.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../shared/errors.ts'
import { idOf } from '../../../shared/ids.ts'
import { IdParams } from '../../http/params.ts'
import { actionRoute, type RouteDeps, writeRoute } from '../../http/route.ts'
import { IdText, Shape } from '../../resource/shapes.ts'
import { addLine, deleteLines, type OnInvoice, replaceLine } from './added-lines/change-lines.ts'
import { AddedLineBody } from './added-lines/schema.ts'
import { answerOf, wholeInvoice } from './answer.ts'
import { creditAndCopy } from './credits/credit-and-copy.ts'
import { creditByHand } from './credits/credit-by-hand.ts'
import { CreditAndCopyAnswer, CreditAndCopyBody, CreditBody } from './credits/schema.ts'
import { createOneOff } from './one-off/create-one-off.ts'
import { OneOffInvoiceBody } from './one-off/schema.ts'
import type { InvoiceDeps } from './producer.ts'
import { InvoiceView } from './schema.ts'
import type { InvoiceRow } from './table.ts'
import { engineOf, withTaxAnswers } from './tax/answers/with-answers.ts'

const PATH = '/v1/invoices'
const tag = 'invoices'
const LineParams = Shape({ ...IdParams.properties, line_id: IdText('line of this invoice') })
const Order = Type.Integer({ minimum: 0 })
const MANY = { minItems: 1, maxItems: 200 }
const DeleteLineBody = Shape(
  {
    periods: Type.Array(
      Shape({
        period_order: Order,
        groups: Type.Array(Shape({ group_order: Order, lines: Type.Array(Shape({ line_order: Order }), MANY) }), MANY),
      }),
      MANY,
    ),
  },
  { title: 'InvoiceLinesDelete' },
)
type DeleteLineBody = Type.Static<typeof DeleteLineBody>

/** Registers the routes. */
export function invoiceLineRoutes(app: FastifyInstance, deps: RouteDeps & InvoiceDeps): void {
  writeRoute(app, deps, {
    permission: 'INVOICE.CREATE',
    summary: 'Create an invoice for what no subscription bills: a DRAFT with the lines that you send.',
    tag,
    method: 'POST',
    url: PATH,
    status: 201,
    body: OneOffInvoiceBody,
    response: InvoiceView,
    handle: async (uow, { body }) => await wholeInvoice(uow, await createOneOff(uow, body)),
  })
  writeRoute(app, deps, {
    permission: 'INVOICE.CREATE',
    summary: 'Credit a FINAL invoice, whole or in part: makes a DRAFT credit note.',
    tag,
    method: 'POST',
    url: `${PATH}/:id/credit`,
    status: 200,
    params: IdParams,
    body: CreditBody,
    response: InvoiceView,
    handle: async (uow, { params, body }) =>
      await wholeInvoice(uow, await creditByHand(uow, idOf('invo', params.id), body)),
  })
  writeRoute(app, deps, {
    permission: 'INVOICE.CREATE',
    summary: 'Credit what is left of a FINAL invoice, and make a copy of it that can be changed.',
    tag,
    method: 'POST',
    url: `${PATH}/:id/credit_and_copy`,
    status: 200,
    params: IdParams,
    body: CreditAndCopyBody,
    response: CreditAndCopyAnswer,
    around: (tenant, work) => withTaxAnswers(engineOf(deps), tenant, work),
    handle: (uow, { params, body }) => creditAndCopy(uow, idOf('invo', params.id), body),
  })
  for (const name of ['lines', 'add-line'] as const) {
    actionRoute(app, deps, {
      permission: 'INVOICE.UPDATE',
      summary: `Add a line to an OPEN or DRAFT invoice${name === 'lines' ? '' : ', under its other name'}.`,
      tag,
      method: 'POST',
      url: `${PATH}/:id/${name}`,
      status: 200,
      params: IdParams,
      body: AddedLineBody,
      response: InvoiceView,
      handle: async (context, { params, body }) =>
        await answerOf({ ...deps, tenant: context.tenant }, await addLine(deps, on(context, params.id), body)),
    })
  }
  actionRoute(app, deps, {
    permission: 'INVOICE.UPDATE',
    summary: 'Replace a line that was added.',
    tag,
    method: 'PUT',
    url: `${PATH}/:id/lines/:line_id`,
    status: 200,
    params: LineParams,
    body: AddedLineBody,
    response: InvoiceView,
    handle: async (context, { params, body }) =>
      await answerOf(
        { ...deps, tenant: context.tenant },
        await replaceLine(deps, on(context, params.id), params.line_id, body),
      ),
  })
  actionRoute(app, deps, {
    permission: 'INVOICE.UPDATE',
    summary: 'Remove a line that was added.',
    tag,
    method: 'DELETE',
    url: `${PATH}/:id/lines/:line_id`,
    status: 200,
    params: LineParams,
    response: InvoiceView,
    handle: async (context, { params }) =>
      await answerOf(
        { ...deps, tenant: context.tenant },
        await deleteLines(deps, on(context, params.id), () => [params.line_id]),
      ),
  })
  actionRoute(app, deps, {
    permission: 'INVOICE.UPDATE',
    summary: 'Remove lines that were added, by their places on the invoice.',
    tag,
    method: 'POST',
    url: `${PATH}/:id/delete-line`,
    status: 200,
    params: IdParams,
    body: DeleteLineBody,
    response: InvoiceView,
    handle: async (context, { params, body }) =>
      await answerOf(
        { ...deps, tenant: context.tenant },
        await deleteLines(deps, on(context, params.id), row => linesAt(row, body)),
      ),
  })
}

const on = ({ tenant, actor }: Pick<OnInvoice, 'tenant' | 'actor'>, id: string): OnInvoice => ({ tenant, actor, id })

/**
 * The lines at these positions; throws INVALID_FIELD for a position without a line, and for one that is named twice.
 */
function linesAt({ content }: InvoiceRow, { periods }: DeleteLineBody): string[] {
  const ids = periods.flatMap((period, p) =>
    period.groups.flatMap((group, g) =>
      group.lines.map(({ line_order }, l) => {
        const found = content.periods[period.period_order]?.groups[group.group_order]?.lines[line_order]
        const field = `periods.${p}.groups.${g}.lines.${l}.line_order`
        if (!found) throw new AppError('INVALID_FIELD', 'The invoice has no line at this place.', { field })
        return found.id
      }),
    ),
  )
  if (new Set(ids).size !== ids.length)
    throw new AppError('INVALID_FIELD', 'The same line is named twice.', { field: 'periods' })
  return ids
}
