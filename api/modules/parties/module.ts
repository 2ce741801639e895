// Who bills and who is billed.
import { defineModule } from '../define-module.ts'
import { billingEntityResource } from './billing-entities/billing-entity.ts'
import { customerResource } from './customers/resource.ts'
import { taxIdRoutes } from './customers/tax-id-routes.ts'
import { PARTY_EVENTS } from './events.ts'
import { paymentAcceptorResource } from './payment-acceptors/payment-acceptor.ts'
import { PLATFORM_GUARDS } from './platforms/guards.ts'
import { platformResource } from './platforms/platform.ts'

export const parties = defineModule({
  name: 'parties',
  events: [PARTY_EVENTS],
  resources: [customerResource, platformResource, billingEntityResource, paymentAcceptorResource],
  guards: PLATFORM_GUARDS,
  routes: taxIdRoutes,
  fixtures: {
    'GET /v1/tax-id-types': {},
    'POST /v1/customers/validate-tax-id': { body: () => ({ type: 'ORGANIZATION' }) },
  },
})
