// What a customer has agreed to, from when to when, and what that entitles it to.
import { onSeeded } from '../../resource/route-fixture.ts'
import { defineModule } from '../define-module.ts'
import { entitlementRoutes } from './entitlements/routes.ts'
import { SUBSCRIPTION_EVENTS } from './events.ts'
import { SUBSCRIPTION_GUARDS } from './guards.ts'
import { subscriptionRoutes } from './routes.ts'
import { scheduleResource } from './schedule.ts'
import { subscriptionWithSchedules } from './subscription-with-schedules.ts'

export const subscriptions = defineModule({
  name: 'subscriptions',
  events: [SUBSCRIPTION_EVENTS],
  resources: [subscriptionWithSchedules, scheduleResource],
  guards: SUBSCRIPTION_GUARDS,
  routes: (app, deps) => {
    subscriptionRoutes(app, deps)
    entitlementRoutes(app, deps)
  },
  fixtures: {
    'POST /v1/pricing-plan-subscriptions/:id/cancel': {
      ...onSeeded('PRICING_PLAN_SUBSCRIPTION'),
      body: () => ({ type: 'NOW' }),
    },
    'GET /v1/customers/:id/entitlements': onSeeded('CUSTOMER'),
  },
})
