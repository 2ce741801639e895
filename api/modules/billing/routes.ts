// The routes of billing itself; the routes of invoices belong to the invoices module.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { actionRoute, type RouteDeps } from '../../http/route.ts'
import { Optional, Shape, Timestamp } from '../../resource/shapes.ts'
import { engineOf, withTaxAnswers } from '../invoices/tax/answers/with-answers.ts'
import { previewInvoices } from './preview/preview-invoices.ts'
import { InvoicePreview } from './preview/preview-shape.ts'
import type { BillingDeps } from './run/compute-invoice.ts'

const INVOICES_PER_SCHEDULE_MAX = 12
const PreviewBody = Shape({
  pricing_plan_subscription_id: Type.String({ minLength: 1, maxLength: 64 }),
  start_at: Optional(Timestamp),
  invoices_per_schedule: Optional(Type.Integer({ minimum: 1, maximum: INVOICES_PER_SCHEDULE_MAX })),
})
const PreviewAnswer = Type.Object({
  invoice: InvoicePreview,
  first_invoice: InvoicePreview,
  invoice_infos: Type.Array(
    Type.Object({ pricing_plan_schedule_id: Type.String(), invoices: Type.Array(InvoicePreview) }),
  ),
})

/** Registers the preview of a subscription's invoices. */
export function billingRoutes(app: FastifyInstance, deps: RouteDeps & BillingDeps): void {
  actionRoute(app, deps, {
    permission: 'INVOICE.VIEW',
    summary: 'Preview the invoices of a subscription: what usage costs so far. Nothing is created.',
    tag: 'invoices',
    method: 'POST',
    url: '/v1/invoices/preview',
    status: 200,
    body: PreviewBody,
    response: PreviewAnswer,
    handle: ({ tenant }, { body }) => withTaxAnswers(engineOf(deps), tenant, () => previewInvoices(deps, tenant, body)),
  })
}
