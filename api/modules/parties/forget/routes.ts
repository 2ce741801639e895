import type { FastifyInstance } from 'fastify'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import { viewOf } from '../../../resource/views.ts'
import { customerResource } from '../customers/resource.ts'
import { forgetCustomer } from './forget-customer.ts'

/** Registers the call that forgets a customer. */
export function forgetRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    permission: 'CUSTOMER.DELETE',
    summary: 'Erase the personal data of a customer for good. Invoices that were issued stay as they are.',
    tag: customerResource.path,
    method: 'POST',
    url: '/v1/customers/:id/forget',
    status: 200,
    params: IdParams,
    response: customerResource.view,
    handle: async (uow, { params }) => await viewOf(uow, customerResource, await forgetCustomer(uow, params.id)),
  })
}
