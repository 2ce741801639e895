// Who bills and who is billed.
import { sql } from 'drizzle-orm'
import { NAMED_BELOW } from '../../resource/above.ts'
import { onSeeded } from '../../resource/routes/route-fixture.ts'
import { extend, namedBy } from '../../resource/rules.ts'
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { billingEntityResource } from './billing-entities/billing-entity.ts'
import { contactResource } from './contacts/contact.ts'
import { customerResource } from './customers/resource.ts'
import { customers } from './customers/table.ts'
import { taxIdRoutes } from './customers/tax-id-routes.ts'
import { PARTY_EVENTS } from './events.ts'
import { type FeedJobDeps, feedJobs } from './exchange-rate-feeds/jobs.ts'
import { exchangeRateResource } from './exchange-rates/exchange-rate.ts'
import { forgetRoutes } from './forget/routes.ts'
import { FORGET_EFFECTS, FORGET_GUARDS } from './forget/rules.ts'
import { paymentAcceptorResource } from './payment-acceptors/payment-acceptor.ts'
import { currencyRoutes } from './platforms/currency-routes.ts'
import { PLATFORM_GUARDS } from './platforms/guards.ts'
import { platformResource } from './platforms/platform.ts'
import { taxRateResource } from './tax-rates/tax-rate.ts'
import type { ViesDeps } from './vies/check-with-vies.ts'
import { viesJobs, viesReactions } from './vies/jobs.ts'

export const parties = defineModule<ModuleRouteDeps, FeedJobDeps & ViesDeps>({
  name: 'parties',
  events: [PARTY_EVENTS],
  resources: [
    customerResource,
    contactResource,
    platformResource,
    billingEntityResource,
    paymentAcceptorResource,
    exchangeRateResource,
    taxRateResource,
  ],
  guards: [
    ...PLATFORM_GUARDS,
    ...FORGET_GUARDS,
    // `customer_parents` has an index by the parent, and keeps those who were parents once.
    namedBy(customerResource, {
      table: customers,
      noun: 'customer',
      names: id => sql`${id} = any (${customers.parent_customer_ids}) and ${customers.id} in (
        select p.customer_id from customer_parents p where p.platform_id = ${customers.platform_id}
          and p.environment = ${customers.environment} and p.parent_id = ${id})`,
    }),
    namedBy(billingEntityResource, {
      table: customers,
      noun: 'customer',
      names: id => sql`${customers.seller_details} ->> 'default_billing_entity_id' = ${id}`,
    }),
  ],
  effects: FORGET_EFFECTS,
  extensions: [extend(NAMED_BELOW, customerResource), extend(NAMED_BELOW, billingEntityResource)],
  jobs: [...feedJobs, ...viesJobs],
  reactions: viesReactions,
  routes: (app, deps) => {
    taxIdRoutes(app, deps)
    currencyRoutes(app, deps)
    forgetRoutes(app, deps)
  },
  fixtures: {
    'POST /v1/customers/:id/forget': onSeeded('CUSTOMER'),
    'GET /v1/platforms/:id/currencies': onSeeded('PLATFORM'),
    'GET /v1/tax-id-types': {},
    'POST /v1/customers/validate-tax-id': { body: () => ({ type: 'ORGANIZATION' }) },
  },
})
