// What a customer has agreed to, from when to when, and what that entitles it to.
import { NAMED_BELOW } from '../../resource/above.ts'
import { onSeeded, seededId } from '../../resource/routes/route-fixture.ts'
import { extend } from '../../resource/rules.ts'
import { APPROVAL_SOURCES } from '../approvals/sources.ts'
import { defineModule } from '../define-module.ts'
import { SCHEDULE_SOURCE } from './approvals/schedule-source.ts'
import { changePlanRoute } from './change-plan/routes.ts'
import { redemptionRoutes } from './coupons/routes.ts'
import { SUBSCRIPTION_EFFECTS } from './effects.ts'
import { entitlementRoutes } from './entitlements/routes.ts'
import { SUBSCRIPTION_EVENTS } from './events.ts'
import { subscriptionGroupResource } from './groups/group.ts'
import { subscriptionGroupRoutes } from './groups/routes.ts'
import { SUBSCRIPTION_GUARDS } from './guards.ts'
import { lifecycleRoutes } from './lifecycle/routes.ts'
import { onDemandItemRoutes } from './on-demand/routes.ts'
import { pauseRoutes } from './pauses/routes.ts'
import { subscriptionRoutes } from './routes.ts'
import { scheduleResource } from './schedules/schedule.ts'
import { seatAssignmentResource } from './seats/seat-assignment.ts'
import { successionRoutes } from './succession/routes.ts'
import { scheduleRoute } from './views/read-schedule.ts'
import { subscriptionWithSchedules } from './views/subscription-with-schedules.ts'

export const subscriptions = defineModule({
  name: 'subscriptions',
  events: [SUBSCRIPTION_EVENTS],
  resources: [subscriptionWithSchedules, scheduleResource, seatAssignmentResource, subscriptionGroupResource],
  guards: SUBSCRIPTION_GUARDS,
  effects: SUBSCRIPTION_EFFECTS,
  extensions: [extend(NAMED_BELOW, subscriptionWithSchedules), extend(APPROVAL_SOURCES, SCHEDULE_SOURCE)],
  routes: (app, deps) => {
    subscriptionRoutes(app, deps)
    scheduleRoute(app, deps)
    lifecycleRoutes(app, deps)
    successionRoutes(app, deps)
    entitlementRoutes(app, deps)
    redemptionRoutes(app, deps)
    changePlanRoute(app, deps)
    pauseRoutes(app, deps)
    onDemandItemRoutes(app, deps)
    subscriptionGroupRoutes(app, deps)
  },
  fixtures: {
    'POST /v1/pricing-plan-subscription-groups': { body: () => ({ reference: 'departments' }) },
    'PATCH /v1/pricing-plan-subscription-groups/:id': {
      ...onSeeded('PRICING_PLAN_SUBSCRIPTION_GROUP'),
      body: () => ({ name: 'Departments' }),
    },
    'POST /v1/pricing-plan-subscriptions/:id/cancel': {
      ...onSeeded('PRICING_PLAN_SUBSCRIPTION'),
      body: () => ({ type: 'NOW' }),
    },
    'PUT /v1/pricing-plan-subscriptions': {
      body: seeded => ({
        reference: 'upserted',
        customer_id: seededId(seeded, 'CUSTOMER'),
        billing_entity_id: seededId(seeded, 'BILLING_ENTITY'),
        billing_currency: 'EUR',
      }),
    },
    'POST /v1/pricing-plan-subscriptions/:id/copy': {
      ...onSeeded('PRICING_PLAN_SUBSCRIPTION'),
      body: () => ({}),
    },
    'POST /v1/pricing-plan-subscriptions/:id/void': onSeeded('PRICING_PLAN_SUBSCRIPTION'),
    'POST /v1/pricing-plan-schedules/:id/copy': {
      ...onSeeded('PRICING_PLAN_SCHEDULE'),
      body: () => ({ start_at: '2026-06-01T00:00:00Z' }),
    },
    'POST /v1/pricing-plan-schedules/:id/migrate': {
      ...onSeeded('PRICING_PLAN_SCHEDULE'),
      body: seeded => ({
        start_at: '2026-06-01T00:00:00Z',
        pricing_plan_version_id: seededId(seeded, 'PRICING_PLAN_VERSION'),
      }),
    },
    'POST /v1/pricing-plan-subscriptions/:id/pause': {
      ...onSeeded('PRICING_PLAN_SUBSCRIPTION'),
      body: () => ({}),
    },
    'POST /v1/pricing-plan-subscriptions/:id/resume': onSeeded('PRICING_PLAN_SUBSCRIPTION'),
    'POST /v1/pricing-plan-subscriptions/:id/change-plan': {
      ...onSeeded('PRICING_PLAN_SUBSCRIPTION'),
      body: seeded => ({ pricing_plan_id: seededId(seeded, 'PRICING_PLAN') }),
    },
    'GET /v1/pricing-plan-schedules/:id/on-demand-pricing-items': onSeeded('PRICING_PLAN_SCHEDULE'),
    'GET /v1/customers/:id/entitlements': onSeeded('CUSTOMER'),
    'GET /v1/platforms/:id/entitlements': onSeeded('PLATFORM'),
    'GET /v1/coupons/:id/redemptions': onSeeded('COUPON'),
    'GET /v1/promotion-codes/:id/redemptions': onSeeded('PROMOTION_CODE'),
  },
})
