// What happens to what is sold.
import { CHANGES, defineEvents } from '../../../shared/contracts/event-types.ts'

export const CATALOG_EVENTS = defineEvents({
  METER_VALUE: CHANGES,
  METER_PROPERTY: CHANGES,
  METER: CHANGES,
  METER_PROPERTY_VARIABLE: CHANGES,
  METER_VALUE_CALCULATION: CHANGES,
  FEATURE: CHANGES,
  PRODUCT_CATEGORY: CHANGES,
  PRODUCT: CHANGES,
  PRODUCT_ITEM: CHANGES,
  PRICING_PLAN: CHANGES,
  PRICING_PLAN_VERSION: CHANGES,
  PRICING: CHANGES,
  PRICING_GROUP: CHANGES,
  PRICING_PLAN_GROUP: CHANGES,
  CREDIT_TYPE: ['CREATED', 'UPDATED'],
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly catalog: typeof CATALOG_EVENTS
  }
}
