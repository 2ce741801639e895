// The document: its parties, amounts, number and PDF. What is owed is its producer's.
import { onSeeded } from '../../resource/route-fixture.ts'
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { INVOICE_EVENTS } from './events.ts'
import type { InvoiceDeps } from './producer.ts'
import type { DocumentDeps } from './rendering/routes.ts'
import { invoiceRoutes } from './routes.ts'

const anInvoice = onSeeded('INVOICE')

export const invoices = defineModule<ModuleRouteDeps & InvoiceDeps & DocumentDeps>({
  name: 'invoices',
  events: [INVOICE_EVENTS],
  routes: invoiceRoutes,
  fixtures: {
    'GET /v1/invoices': {},
    'POST /v1/invoices/search': { body: () => ({}) },
    'GET /v1/invoices/:id': anInvoice,
    'GET /v1/invoices/:id/pdf': anInvoice,
    'GET /v1/invoices/:id/download-url': anInvoice,
    'PATCH /v1/invoices/:id': { ...anInvoice, body: () => ({ on_hold: true }) },
    'POST /v1/invoices/:id/void': anInvoice,
    'POST /v1/invoices/:id/archive': anInvoice,
    'POST /v1/invoices/:id/refresh': { ...anInvoice, body: () => ({ types: ['FULL'] }) },
  },
})
