// What was paid elsewhere, recorded for invoices.
import { onSeeded } from '../../resource/route-fixture.ts'
import { defineModule } from '../define-module.ts'
import { PAYMENT_EVENTS } from './events.ts'
import { paymentResource } from './payment.ts'
import { paymentRoutes } from './routes.ts'

export const payments = defineModule({
  name: 'payments',
  events: [PAYMENT_EVENTS],
  resources: [paymentResource],
  routes: paymentRoutes,
  fixtures: {
    'POST /v1/payments/:id/reverse': onSeeded('PAYMENT'),
    'POST /v1/payments/:id/refund': { ...onSeeded('PAYMENT'), body: () => ({}) },
    'POST /v1/invoices/:id/refund': onSeeded('INVOICE'),
    'GET /v1/invoices/:id/payment-attempts': onSeeded('INVOICE'),
    'GET /v1/invoices/:id/payments': onSeeded('INVOICE'),
  },
})
