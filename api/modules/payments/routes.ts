// The calls on recorded payments beyond those of any resource.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { idOf } from '../../../shared/ids.ts'
import { IdParams } from '../../http/params.ts'
import { type RouteDeps, readRoute, writeRoute } from '../../http/route.ts'
import { saveChange } from '../../resource/commands.ts'
import { getOne, lockExisting } from '../../resource/store.ts'
import { viewOf } from '../../resource/views.ts'
import { getInvoice, lockInvoice } from '../invoices/repository.ts'
import { paymentResource } from './payment.ts'
import { paymentsOf } from './store-payments.ts'
import type { Payment } from './table.ts'

const tag = paymentResource.path
const Modification = Type.Object(
  { payment: paymentResource.view, status: Type.Literal('SUCCESS') },
  { title: 'PaymentModification' },
)

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
  readRoute(app, deps, {
    tag,
    permission: 'PAYMENT.VIEW',
    summary: 'List the payments that are recorded for an invoice, those that were reversed too.',
    method: 'GET',
    url: '/v1/invoices/:id/payments',
    params: IdParams,
    query: Type.Object({}),
    response: Type.Object({ data: Type.Array(paymentResource.view) }, { title: 'InvoicePayments' }),
    handle: async (uow, { params }) => {
      const { id } = await getInvoice(uow, idOf('invo', params.id))
      const rows = await paymentsOf(uow, id)
      return { data: await Promise.all(rows.map(row => viewOf(uow, paymentResource, row))) }
    },
  })
}

/** Throws INVALID_OPERATION for one that was reversed before. The invoice is locked before the payment, as where one is recorded. */
async function reverse(uow: Uow, id: string): Promise<Payment> {
  const found = await getOne(uow, paymentResource, id)
  if (found.invoice_id !== null) await lockInvoice(uow, found.invoice_id)
  const row = await lockExisting(uow, paymentResource, id)
  if (row.result === 'CANCELLED')
    throw new AppError('INVALID_OPERATION', 'The payment is reversed already.', { field: 'result', resourceId: id })
  return await saveChange(uow, paymentResource, row, { result: 'CANCELLED' })
}
