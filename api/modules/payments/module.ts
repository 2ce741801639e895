// What was paid elsewhere, recorded for invoices: those that exist, and the first one of a subscription that is made with its payment.
import { onSeeded, seededId } from '../../resource/routes/route-fixture.ts'
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { PAYMENT_EVENTS } from './events.ts'
import { type InitDeps, initRoute } from './init/routes.ts'
import { paymentResource } from './payment.ts'
import { paymentRoutes } from './routes.ts'

export const payments = defineModule<ModuleRouteDeps & InitDeps>({
  name: 'payments',
  events: [PAYMENT_EVENTS],
  resources: [paymentResource],
  routes: (app, deps) => {
    paymentRoutes(app, deps)
    initRoute(app, deps)
  },
  fixtures: {
    'POST /v1/pricing-plan-subscriptions/init': {
      body: seeded => ({
        pricing_plan_subscription: {
          customer_id: seededId(seeded, 'CUSTOMER'),
          billing_entity_id: seededId(seeded, 'BILLING_ENTITY'),
          billing_currency: 'EUR',
        },
        pricing_plan_schedules: [{ pricing_plan_version_id: seededId(seeded, 'PRICING_PLAN_VERSION') }],
      }),
    },
    'POST /v1/payments/:id/reverse': onSeeded('PAYMENT'),
    'POST /v1/payments/:id/refund': { ...onSeeded('PAYMENT'), body: () => ({}) },
    'POST /v1/invoices/:id/refund': onSeeded('INVOICE'),
    'GET /v1/invoices/:id/payment-attempts': onSeeded('INVOICE'),
    'GET /v1/invoices/:id/payments': onSeeded('INVOICE'),
  },
})
