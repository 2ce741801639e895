// The routes of billing itself; the routes of invoices belong to the invoices module.
import type { FastifyInstance } from 'fastify'
import { actionRoute, type RouteDeps } from '../../http/route.ts'
import { engineOf, withTaxAnswers } from '../invoices/tax/answers/with-answers.ts'
import { isOfTemplate, PreviewBody, previewed } from './preview/preview-body.ts'
import { previewInvoices } from './preview/preview-invoices.ts'
import { LARGE_MEMBERS, PreviewAnswer } from './preview/preview-shape.ts'
import { previewTemplate } from './preview/preview-template.ts'
import type { BillingDeps } from './run/compute-invoice.ts'

/** Registers the preview of a subscription's invoices. */
export function billingRoutes(app: FastifyInstance, deps: RouteDeps & BillingDeps): void {
  actionRoute(app, deps, {
    permission: 'INVOICE.VIEW',
    summary:
      'Preview the invoices of a subscription: what usage costs so far; or of one that would be made from a template. Nothing is created.',
    tag: 'invoices',
    method: 'POST',
    url: '/v1/invoices/preview',
    status: 200,
    body: PreviewBody,
    response: PreviewAnswer,
    large: LARGE_MEMBERS,
    handle: ({ tenant }, { body }) => {
      const of = previewed(body)
      return isOfTemplate(of)
        ? previewTemplate(deps, tenant, of)
        : withTaxAnswers(engineOf(deps), tenant, () => previewInvoices(deps, tenant, of))
    },
  })
}
