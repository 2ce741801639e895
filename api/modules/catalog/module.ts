// What is sold, and how usage of it is measured and priced.
import { onSeeded, seededId } from '../../resource/routes/route-fixture.ts'
import { defineModule } from '../define-module.ts'
import { catalogFileRoutes } from './as-code/routes.ts'
import { creditTypeResource } from './credit-types/credit-type.ts'
import { CATALOG_EVENTS } from './events.ts'
import { featureResource } from './features/feature.ts'
import { meterPropertyVariableRoutes } from './meter-property-variables/routes.ts'
import { meterPropertyVariableResource } from './meter-property-variables/variable.ts'
import { METER_GUARDS } from './meters/guards.ts'
import { meterResource } from './meters/meter.ts'
import { meterPropertyResource } from './meters/meter-property.ts'
import { meterValueResource } from './meters/meter-value.ts'
import { meterValueCalculationResource } from './meters/meter-value-calculation.ts'
import { PRICING_PLAN_GROUP_GUARDS } from './pricing-plan-groups/guards.ts'
import { pricingPlanGroupResource } from './pricing-plan-groups/pricing-plan-group.ts'
import { PRICING_EFFECTS } from './pricing-plans/effects.ts'
import { PRICING_GUARDS } from './pricing-plans/guards.ts'
import { pricingResource } from './pricing-plans/pricing.ts'
import { pricingPlanResource } from './pricing-plans/pricing-plan.ts'
import { pricingPlanVersionResource } from './pricing-plans/pricing-plan-version.ts'
import { pricingPlanVersionRoutes } from './pricing-plans/routes.ts'
import { pricingGroupResource } from './pricing-plans/selection/pricing-group.ts'
import { PRODUCT_GUARDS } from './products/guards.ts'
import { productItemResource, productResource } from './products/product.ts'
import { productCategoryResource } from './products/product-category.ts'

const aVariable = onSeeded('METER_PROPERTY_VARIABLE')

export const catalog = defineModule({
  name: 'catalog',
  otherObjectTypes: ['PRICING_ITEM_CONFIG'],
  events: [CATALOG_EVENTS],
  resources: [
    meterValueResource,
    meterPropertyResource,
    meterResource,
    meterPropertyVariableResource,
    meterValueCalculationResource,
    featureResource,
    productCategoryResource,
    productResource,
    productItemResource,
    pricingPlanResource,
    pricingPlanVersionResource,
    pricingGroupResource,
    pricingResource,
    pricingPlanGroupResource,
    creditTypeResource,
  ],
  routes: (app, deps) => {
    meterPropertyVariableRoutes(app, deps)
    catalogFileRoutes(app, deps)
    pricingPlanVersionRoutes(app, deps)
  },
  effects: PRICING_EFFECTS,
  guards: [...METER_GUARDS, ...PRODUCT_GUARDS, ...PRICING_GUARDS, ...PRICING_PLAN_GROUP_GUARDS],
  fixtures: {
    'PATCH /v1/meter-property-variables/:id/values': { ...aVariable, body: () => ({ add: ['large'] }) },
    'GET /v1/meter-property-variables/:id/values': aVariable,
    'PUT /v1/pricing-plan-versions': {
      body: seeded => ({ pricing_plan_id: seededId(seeded, 'PRICING_PLAN') }),
    },
    'GET /v1/catalog': {},
    'POST /v1/catalog/plan': {
      body: () => ({ format: 1, product_categories: [{ reference: 'tools', name: 'Tools' }] }),
    },
    'POST /v1/catalog/apply': {
      body: () => ({ format: 1, product_categories: [{ reference: 'tools', name: 'Tools' }] }),
    },
  },
})
