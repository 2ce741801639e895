// What a catalog file holds, section by section, in the order in which it is applied: nothing names what comes after it.
import type { Resource } from '../../../resource/define-resource.ts'
import { creditTypeResource } from '../credit-types/credit-type.ts'
import { featureResource } from '../features/feature.ts'
import { meterResource } from '../meters/meter.ts'
import { meterPropertyResource } from '../meters/meter-property.ts'
import { meterValueResource } from '../meters/meter-value.ts'
import { meterValueCalculationResource } from '../meters/meter-value-calculation.ts'
import { pricingPlanGroupResource } from '../pricing-plan-groups/pricing-plan-group.ts'
import { pricingPlanResource } from '../pricing-plans/pricing-plan.ts'
import { productItemResource, productResource } from '../products/product.ts'
import { productCategoryResource } from '../products/product-category.ts'

/** Each entry is named by its `reference`. The versions of a plan stand inside it. */
const SECTIONS = {
  meter_values: meterValueResource,
  meter_properties: meterPropertyResource,
  meters: meterResource,
  meter_value_calculations: meterValueCalculationResource,
  features: featureResource,
  credit_types: creditTypeResource,
  product_categories: productCategoryResource,
  products: productResource,
  product_items: productItemResource,
  pricing_plans: pricingPlanResource,
  pricing_plan_groups: pricingPlanGroupResource,
} as const satisfies Record<string, Resource>

export type Section = keyof typeof SECTIONS
export const SECTION_NAMES = Object.keys(SECTIONS) as Section[]
/** The resource of a section, as one of any rows. */
export const resourceOf = (section: Section): Resource => SECTIONS[section]

/** Fields with ids: what they are called in a file, where they hold references, and the section of what they name. */
export const REFERENCES: Readonly<Record<string, readonly [name: string, section: Section]>> = {
  meter_id: ['meter', 'meters'],
  meter_value_id: ['meter_value', 'meter_values'],
  meter_property_id: ['meter_property', 'meter_properties'],
  meter_value_calculation_id: ['meter_value_calculation', 'meter_value_calculations'],
  tiering_meter_value_calculation_id: ['tiering_meter_value_calculation', 'meter_value_calculations'],
  category_id: ['category', 'product_categories'],
  parent_product_id: ['parent_product', 'products'],
  product_id: ['product', 'products'],
  product_ids: ['products', 'products'],
  product_item_ids: ['product_items', 'product_items'],
  pricing_plan_ids: ['pricing_plans', 'pricing_plans'],
}
