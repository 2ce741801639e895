// The calls on recorded payments beyond those of any resource.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Uow } from '../../../shared/database/database.ts'
import { idOf } from '../../../shared/ids.ts'
import { IdParams } from '../../http/params.ts'
import { type RouteDeps, readRoute, writeRoute } from '../../http/route.ts'
import { saveChange } from '../../resource/commands.ts'
import { Amount, Nullable, Optional, Shape } from '../../resource/shapes.ts'
import { viewOf } from '../../resource/views.ts'
import { wholeInvoice } from '../invoices/answer.ts'
import { getInvoice } from '../invoices/repository.ts'
import { InvoiceView } from '../invoices/schema.ts'
import { paymentResource } from './payment.ts'
import { lockCounting, refundInvoice, refundPayment } from './refund.ts'
import { paymentsOf } from './store-payments.ts'
import type { Payment } from './table.ts'

const tag = paymentResource.path
const Modification = Type.Object(
  { payment: paymentResource.view, status: Type.Literal('SUCCESS') },
  { title: 'PaymentModification' },
)

const RefundBody = Shape({ amount: Optional(Nullable(Amount)) })
/** Both list the same: what is recorded is every attempt that is known. */
const LISTS = [
  ['payments', 'payments that are recorded for an invoice, those that were reversed or paid back too'],
  ['payment-attempts', 'attempts to pay an invoice: every payment that is recorded for it, whatever became of it'],
] as const

/** Registers them. */
export function paymentRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    tag,
    permission: 'PAYMENT.UPDATE',
    summary: 'Reverse a payment that was recorded: it no longer counts.',
    method: 'POST',
    url: '/v1/payments/:id/reverse',
    status: 200,
    params: IdParams,
    response: Modification,
    handle: async (uow, { params }) => ({
      payment: await viewOf(uow, paymentResource, await reverse(uow, params.id)),
      status: 'SUCCESS' as const,
    }),
  })
  writeRoute(app, deps, {
    tag,
    permission: 'PAYMENT.UPDATE',
    summary: 'Record that a payment was paid back, in full or in part.',
    method: 'POST',
    url: '/v1/payments/:id/refund',
    status: 200,
    params: IdParams,
    body: RefundBody,
    response: Modification,
    handle: async (uow, { params, body }) => ({
      payment: await viewOf(uow, paymentResource, await refundPayment(uow, params.id, body.amount)),
      status: 'SUCCESS' as const,
    }),
  })
  writeRoute(app, deps, {
    tag,
    permission: 'PAYMENT.UPDATE',
    summary: 'Record that everything paid of an invoice beyond what is due was paid back.',
    method: 'POST',
    url: '/v1/invoices/:id/refund',
    status: 200,
    params: IdParams,
    response: InvoiceView,
    handle: async (uow, { params }) => await wholeInvoice(uow, await refundInvoice(uow, idOf('invo', params.id))),
  })
  for (const [name, what] of LISTS)
    readRoute(app, deps, {
      tag,
      permission: 'PAYMENT.VIEW',
      summary: `List the ${what}.`,
      method: 'GET',
      url: `/v1/invoices/:id/${name}`,
      params: IdParams,
      query: Shape({}),
      response: Type.Object({ data: Type.Array(paymentResource.view) }, { title: 'InvoicePayments' }),
      handle: async (uow, { params }) => {
        const { id } = await getInvoice(uow, idOf('invo', params.id))
        const rows = await paymentsOf(uow, id)
        return { data: await Promise.all(rows.map(row => viewOf(uow, paymentResource, row))) }
      },
    })
}

const reverse = async (uow: Uow, id: string): Promise<Payment> =>
  await saveChange(uow, paymentResource, await lockCounting(uow, id), { result: 'CANCELLED' })
