// Every resource of the api, in the order of the interface. A resource that is not here has no routes.
import type { Resource } from '../resource/define-resource.ts'
import { alertResource } from './alerts/alert.ts'
import { alertRuleResource } from './alerts/alert-rule.ts'
import { apiKeyResource } from './api-keys/api-key.ts'
import { billingEntityResource } from './billing-entities/billing-entity.ts'
import { featureResource } from './features/feature.ts'
import { fileProcessingSettingsResource } from './file-processing-settings/file-processing-settings.ts'
import { fileResource } from './files/file.ts'
import { meterPropertyVariableResource } from './meter-property-variables/variable.ts'
import { meterResource } from './meters/meter.ts'
import { meterPropertyResource } from './meters/meter-property.ts'
import { meterValueResource } from './meters/meter-value.ts'
import { meterValueCalculationResource } from './meters/meter-value-calculation.ts'
import { platformResource } from './platforms/platform.ts'
import { pricingResource } from './pricing-plans/pricing.ts'
import { pricingPlanResource } from './pricing-plans/pricing-plan.ts'
import { pricingPlanVersionResource } from './pricing-plans/pricing-plan-version.ts'
import { productItemResource, productResource } from './products/product.ts'
import { productCategoryResource } from './products/product-category.ts'
import { followedCustomerResource } from './reprocess/follow-customers.ts'
import { reprocessResource } from './reprocess/reprocess.ts'
import { roleResource } from './roles/role.ts'
import { scheduleResource } from './subscriptions/schedule.ts'
import { subscriptionResource } from './subscriptions/subscription.ts'

export const RESOURCES: readonly Resource[] = [
  followedCustomerResource,
  meterValueResource,
  meterPropertyResource,
  meterResource,
  meterPropertyVariableResource,
  meterValueCalculationResource,
  platformResource,
  billingEntityResource,
  featureResource,
  productCategoryResource,
  productResource,
  productItemResource,
  pricingPlanResource,
  pricingPlanVersionResource,
  pricingResource,
  subscriptionResource,
  scheduleResource,
  reprocessResource,
  fileProcessingSettingsResource,
  fileResource,
  alertRuleResource,
  alertResource,
  roleResource,
  apiKeyResource,
]
