// Billing: prices the usage of subscriptions, bills it on time, computes it again when its inputs change, simulates
// other prices, and moves subscriptions to another version of a plan.
import { onSeeded, seededId, seededView } from '../../resource/routes/route-fixture.ts'
import { extend } from '../../resource/rules.ts'
import { GATE } from '../catalog/as-code/revenue-gate.ts'
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { onSeededLine } from '../invoices/added-lines/line-fixture.ts'
import { REPROCESS_OF } from '../invoices/reprocess-of.ts'
import { CHOSEN_ACCEPTORS } from '../invoices/settlement/chosen-acceptors.ts'
import { ISSUED_ZONES } from '../subscriptions/billing-time/issued-zones.ts'
import { NEXT_INVOICES } from '../subscriptions/billing-time/next-invoices.ts'
import { calculateRoutes } from './calculate/routes.ts'
import { CLOSED_TIME_GUARDS } from './closed-time/guards.ts'
import { VOIDED_EFFECTS } from './closed-time/voided.ts'
import { CORRECTION_EFFECTS } from './corrections/effects.ts'
import { prepareCorrections } from './corrections/prepare-corrections.ts'
import { rebillProducer } from './corrections/rebill-producer.ts'
import { BILLING_EVENTS } from './events.ts'
import { CORRECTIONS } from './late/corrected/place.ts'
import { onDemandProducer } from './on-demand/on-demand-producer.ts'
import { onDemandRoutes } from './on-demand/routes.ts'
import { persistDataRoutes } from './persist-data/routes.ts'
import { REPROCESS_EFFECTS } from './reprocess/effects.ts'
import { reprocessResource } from './reprocess/reprocess.ts'
import { type ReprocessJobDeps, reprocessJobs, reprocessReactions } from './reprocess/reprocess-jobs.ts'
import { reprocessOfInvoice } from './reprocess/reprocess-of-invoice.ts'
import { upToDateRoute } from './reprocess/up-to-date.ts'
import { billingRoutes } from './routes.ts'
import { chosenAcceptors } from './run/chosen-acceptors.ts'
import { combinedProducer } from './run/combined/combined-producer.ts'
import type { BillingDeps } from './run/compute-invoice.ts'
import { type BillingJobDeps, billingJobs } from './run/jobs/billing-jobs.ts'
import { billingReactions } from './run/jobs/changed-jobs.ts'
import { followJobs } from './run/jobs/follow-usage.ts'
import { nextInvoices } from './run/next-invoices.ts'
import { subscriptionProducer } from './run/subscription-producer.ts'
import { gatekeeper } from './simulate/gatekeeper.ts'
import { simulationRoutes } from './simulate/routes.ts'
import { simulationJobs, simulationReactions } from './simulate/simulation-jobs.ts'
import { loadIssuedZones } from './terms/load/load-issued-zones.ts'
import { migrationJobs, migrationReactions } from './version-migrations/migration-jobs.ts'
import { migrationRoutes } from './version-migrations/routes.ts'
import { receiptJobs } from './why/receipt/receipt-jobs.ts'
import { whyRoutes } from './why/routes.ts'

// No simulation and no migration is seeded, so an id of another kind stands for a foreign one.
const aSimulation = onSeeded('PRICING_PLAN_VERSION')

export const billing = defineModule<ModuleRouteDeps & BillingDeps, BillingJobDeps & ReprocessJobDeps>({
  name: 'billing',
  otherObjectTypes: ['SIMULATED_CUSTOMER'],
  events: [BILLING_EVENTS],
  eventShapes: {
    PERSIST_DATA: 'PersistData',
    PRICING_PLAN_VERSION_MIGRATION: 'PricingPlanVersionMigration',
    PRICING_PLAN_VERSION_SIMULATION: 'PricingPlanVersionSimulation',
  },
  resources: [reprocessResource],
  guards: CLOSED_TIME_GUARDS,
  effects: [...REPROCESS_EFFECTS, ...VOIDED_EFFECTS, ...CORRECTION_EFFECTS],
  routes: (app, deps) => {
    upToDateRoute(app, deps)
    billingRoutes(app, deps)
    calculateRoutes(app, deps)
    persistDataRoutes(app, deps)
    whyRoutes(app, deps)
    onDemandRoutes(app, { ...deps, taxEngine: deps.taxEngine ?? null })
    simulationRoutes(app, deps)
    migrationRoutes(app, deps)
  },
  extensions: [
    extend(GATE, gatekeeper),
    extend(CORRECTIONS, prepareCorrections),
    extend(NEXT_INVOICES, nextInvoices),
    extend(ISSUED_ZONES, loadIssuedZones),
    extend(REPROCESS_OF, reprocessOfInvoice),
    extend(CHOSEN_ACCEPTORS, chosenAcceptors),
  ],
  jobs: [...billingJobs(), ...followJobs, ...reprocessJobs(), ...receiptJobs, ...simulationJobs, ...migrationJobs],
  reactions: [...billingReactions, ...reprocessReactions, ...simulationReactions, ...migrationReactions],
  producers: deps => [
    subscriptionProducer(deps),
    combinedProducer,
    onDemandProducer(deps.database),
    rebillProducer(deps),
  ],
  fixtures: {
    'POST /v1/invoices/preview': {
      body: seeded => ({ pricing_plan_subscription_id: seededId(seeded, 'PRICING_PLAN_SUBSCRIPTION') }),
    },
    'POST /v1/invoices/charge-on-demand-pricing-items': {
      body: seeded => ({
        pricing_plan_schedule_id: seededId(seeded, 'PRICING_PLAN_SCHEDULE'),
        pricing_items: [{ pricing_item_id: 'none' }],
      }),
    },
    'POST /v1/prices/calculate': {
      body: () => ({
        pricing_item_config: {
          pricing_type: 'FLAT',
          bands: [{ amount: { quantity: '0.015', currency: 'EUR' }, block_size: { number: '1000' } }],
        },
        meter_values: [{ number: '3450' }],
      }),
    },
    'POST /v1/pricing-plan-versions/:id/calculate': {
      ...onSeeded('PRICING_PLAN_VERSION'),
      body: seeded => ({ billing_entity_id: seededId(seeded, 'BILLING_ENTITY'), customer: { country: 'NL' } }),
    },
    'GET /v1/invoices/:id/lines/:line_id/explanation': onSeededLine,
    'GET /v1/invoices/:id/lines/:line_id/events': onSeededLine,
    'POST /v1/invoices/:id/verify': onSeeded('INVOICE'),
    'GET /v1/invoices/:id/receipt': onSeeded('INVOICE'),
    'POST /v1/pricing-plan-versions/:id/simulate': {
      ...onSeeded('PRICING_PLAN_VERSION'),
      body: () => ({ periods: 3, max_revenue_change: '5' }),
    },
    'GET /v1/pricing-plan-version-simulations': {},
    'GET /v1/pricing-plan-version-simulations/:id': aSimulation,
    'POST /v1/pricing-plan-version-simulations/:id/cancel': aSimulation,
    'GET /v1/pricing-plan-version-simulations/:id/customers': aSimulation,
    'POST /v1/pricing-plan-versions/:id/migrate': {
      ...onSeeded('PRICING_PLAN_VERSION'),
      body: seeded => ({ pricing_plan_version_id: seededId(seeded, 'PRICING_PLAN_VERSION') }),
    },
    'GET /v1/pricing-plan-version-migrations': {},
    'GET /v1/pricing-plan-version-migrations/:id': aSimulation,
    'POST /v1/pricing-plan-version-migrations/:id/start': aSimulation,
    'POST /v1/pricing-plan-version-migrations/:id/cancel': aSimulation,
    'GET /v1/pricing-plan-version-migrations/:id/results': aSimulation,
    'GET /v1/pricing-plan-versions/:id/curve': onSeeded('PRICING_PLAN_VERSION'),
    'GET /v1/platforms/:id/up-to-date': onSeeded('PLATFORM'),
    'POST /v1/ingest/persist-data': {
      body: seeded => {
        const [item] = seededView(seeded, 'PRICING').items as { id: string; configs: { id: string }[] }[]
        return {
          customer_id: seededId(seeded, 'CUSTOMER'),
          pricing_plan_subscription_id: seededId(seeded, 'PRICING_PLAN_SUBSCRIPTION'),
          pricing_id: seededId(seeded, 'PRICING'),
          pricing_item_id: item?.id ?? 'none',
          pricing_item_config_id: item?.configs[0]?.id ?? 'none',
          persist_usage: '37',
        }
      },
    },
  },
})
