// Every resource of the api, in the order of the interface. A resource that is not here has no routes.
import type { Resource } from '../resource/define-resource.ts'
import { apiKeyResource } from './accounts/api-keys/api-key.ts'
import { roleResource } from './accounts/roles/role.ts'
import { alertResource } from './alerts/alert.ts'
import { alertRuleResource } from './alerts/alert-rule.ts'
import { followedCustomerResource } from './billing/reprocess/follow-customers.ts'
import { reprocessResource } from './billing/reprocess/reprocess.ts'
import { featureResource } from './catalog/features/feature.ts'
import { meterPropertyVariableResource } from './catalog/meter-property-variables/variable.ts'
import { meterResource } from './catalog/meters/meter.ts'
import { meterPropertyResource } from './catalog/meters/meter-property.ts'
import { meterValueResource } from './catalog/meters/meter-value.ts'
import { meterValueCalculationResource } from './catalog/meters/meter-value-calculation.ts'
import { pricingResource } from './catalog/pricing-plans/pricing.ts'
import { pricingPlanResource } from './catalog/pricing-plans/pricing-plan.ts'
import { pricingPlanVersionResource } from './catalog/pricing-plans/pricing-plan-version.ts'
import { productItemResource, productResource } from './catalog/products/product.ts'
import { productCategoryResource } from './catalog/products/product-category.ts'
import { fileProcessingSettingsResource } from './ingestion/file-processing-settings/file-processing-settings.ts'
import { fileResource } from './ingestion/files/file.ts'
import { billingEntityResource } from './parties/billing-entities/billing-entity.ts'
import { platformResource } from './parties/platforms/platform.ts'
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
