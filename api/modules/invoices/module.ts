// Invoices as documents: parties, amounts, number and PDF. Producers decide what is owed.
import { onSeeded, seededId } from '../../resource/routes/route-fixture.ts'
import { extend } from '../../resource/rules.ts'
import { CLOCK_STEPS } from '../../test-clock/clock-steps.ts'
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { onSeededLine } from './added-lines/line-fixture.ts'
import { bulkActionResource } from './bulk-actions/bulk-action.ts'
import { type BulkJobDeps, bulkActionJobs, bulkActionReactions } from './bulk-actions/jobs.ts'
import { bulkActionRoutes } from './bulk-actions/routes.ts'
import { creditProducer } from './credits/credit-producer.ts'
import { type EmailJobDeps, emailJobs, emailReactions } from './emails/jobs.ts'
import { type EmailRouteDeps, emailRoutes } from './emails/routes.ts'
import { INVOICE_EVENTS } from './events.ts'
import { INVOICE_EFFECTS } from './forgotten.ts'
import { INVOICE_GUARDS } from './guards.ts'
import { invoiceLineRoutes } from './line-routes.ts'
import { oneOffProducer } from './one-off/one-off-producer.ts'
import { announceOverdue } from './overdue/announce-overdue.ts'
import { type OverdueJobDeps, overdueJobs } from './overdue/jobs.ts'
import type { InvoiceDeps } from './producer.ts'
import type { DocumentDeps } from './rendering/routes.ts'
import { invoiceRoutes } from './routes.ts'
import { invoices as table } from './table.ts'
import { TAX_ENGINE_EFFECTS, TAX_ENGINE_GUARDS } from './tax/answers/rules.ts'
import { dropTaxAnswersJobs } from './tax/questions/drop-jobs.ts'
import { type TaxEngineJobDeps, taxEngineJobs } from './tax/questions/jobs.ts'

const anInvoice = onSeeded('INVOICE')
const LINE = {
  pricing_name: 'Workshop',
  pricing_type: 'FIXED',
  pricing_band: { amount: { quantity: '450', currency: 'EUR' } },
}
export const invoices = defineModule<
  ModuleRouteDeps & InvoiceDeps & DocumentDeps & EmailRouteDeps,
  OverdueJobDeps & BulkJobDeps & EmailJobDeps & TaxEngineJobDeps
>({
  name: 'invoices',
  otherObjectTypes: ['INVOICE_LINE'],
  events: [INVOICE_EVENTS],
  eventShapes: { INVOICE: 'Invoice' },
  withCustomFields: ['INVOICE'],
  testClockSubjects: [
    { objectType: 'INVOICE', path: 'invoices', table, byReference: false, testClockOf: 'customer_id' },
  ],
  guards: [...INVOICE_GUARDS, ...TAX_ENGINE_GUARDS],
  effects: [...INVOICE_EFFECTS, ...TAX_ENGINE_EFFECTS],
  extensions: [extend(CLOCK_STEPS, { besideBilling: null, run: announceOverdue })],
  routes: (app, deps) => {
    invoiceRoutes(app, deps)
    invoiceLineRoutes(app, deps)
    bulkActionRoutes(app, deps)
    emailRoutes(app, deps)
  },
  resources: [bulkActionResource],
  jobs: [...overdueJobs, ...bulkActionJobs, ...emailJobs, ...taxEngineJobs, ...dropTaxAnswersJobs],
  reactions: [...bulkActionReactions, ...emailReactions],
  producers: ({ database }) => [oneOffProducer(database), creditProducer(database)],
  fixtures: {
    'GET /v1/invoices': {},
    'POST /v1/invoices/search': { body: () => ({}) },
    'GET /v1/invoices/:id': anInvoice,
    'GET /v1/invoices/:id/pdf': anInvoice,
    'GET /v1/invoices/:id/ubl21': anInvoice,
    'GET /v1/invoices/:id/factur-x': anInvoice,
    'GET /v1/invoices/:id/download-url': anInvoice,
    'PATCH /v1/invoices/:id': { ...anInvoice, body: () => ({ on_hold: true }) },
    'POST /v1/invoices/:id/send_by_email': anInvoice,
    'GET /v1/invoices/:id/emails': anInvoice,
    'POST /v1/invoices/:id/void': anInvoice,
    'POST /v1/invoices/:id/archive': anInvoice,
    'POST /v1/invoices': {
      body: seeded => ({
        customer_id: seededId(seeded, 'CUSTOMER'),
        billing_entity_id: seededId(seeded, 'BILLING_ENTITY'),
        lines: [LINE],
      }),
    },
    'POST /v1/invoices/:id/credit': { ...anInvoice, body: () => ({}) },
    'POST /v1/invoices/:id/credit_and_copy': { ...anInvoice, body: () => ({}) },
    'POST /v1/invoices/:id/lines': { ...anInvoice, body: () => LINE },
    'POST /v1/invoices/:id/add-line': { ...anInvoice, body: () => LINE },
    'PUT /v1/invoices/:id/lines/:line_id': { ...onSeededLine, body: () => LINE },
    'DELETE /v1/invoices/:id/lines/:line_id': onSeededLine,
    'POST /v1/invoices/:id/delete-line': {
      ...anInvoice,
      body: () => ({ periods: [{ period_order: 0, groups: [{ group_order: 0, lines: [{ line_order: 0 }] }] }] }),
    },
    'POST /v1/bulk-actions/check': {
      body: () => ({ type: 'FINALIZE_INVOICES', finalize_invoices: { invoice_date: '2026-01-31' } }),
    },
    'GET /v1/bulk-actions/:id/items': onSeeded('BULK_ACTION'),
    'POST /v1/invoices/:id/refresh': { ...anInvoice, body: () => ({ types: ['FULL'] }) },
  },
})
