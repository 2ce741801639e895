// The route of on-demand charges.
import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import type { EngineDeps } from '../../invoices/tax/answers/query-engine.ts'
import { withTaxAnswers } from '../../invoices/tax/answers/with-answers.ts'
import { chargeOnDemand } from './charge-on-demand.ts'
import { OnDemandChargeBody, OnDemandInvoice } from './schema.ts'

/** Registers the call. Its answer is stored in the transaction of the charge, so a repeat never charges twice. */
export function onDemandRoutes(app: FastifyInstance, deps: RouteDeps & EngineDeps): void {
  writeRoute(app, deps, {
    permission: 'INVOICE.CREATE',
    summary:
      'Charge items on demand: an invoice for what a customer buys outside its billing periods, or a preview of it.',
    tag: 'invoices',
    method: 'POST',
    url: '/v1/invoices/charge-on-demand-pricing-items',
    status: 201,
    body: OnDemandChargeBody,
    response: OnDemandInvoice,
    around: (tenant, work) => withTaxAnswers(deps, tenant, work),
    handle: async (uow, { body }) =>
      await chargeOnDemand(uow, normalizeTimes(OnDemandChargeBody, body) as Static<typeof OnDemandChargeBody>),
  })
}
