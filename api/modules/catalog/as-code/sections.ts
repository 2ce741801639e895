// What a catalog file holds, section by section, in the order in which it is applied: nothing names what comes after it.
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Resource, Row, StoredRow } from '../../../resource/define-resource.ts'
import { type AddedSection, FILE_SECTIONS } from '../../../resource/file-sections.ts'
import { extensionsOf } from '../../../resource/rules.ts'
import { creditTypeResource } from '../credit-types/credit-type.ts'
import { featureResource } from '../features/feature.ts'
import { meterPropertyVariableResource } from '../meter-property-variables/variable.ts'
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
  meter_property_variables: meterPropertyVariableResource,
  meter_value_calculations: meterValueCalculationResource,
  features: featureResource,
  credit_types: creditTypeResource,
  product_categories: productCategoryResource,
  products: productResource,
  product_items: productItemResource,
  pricing_plans: pricingPlanResource,
  pricing_plan_groups: pricingPlanGroupResource,
} as const satisfies Record<string, Resource>

export type Section = keyof typeof SECTIONS | AddedSection
/** Custom fields before what has values of them, wallet types before the prices that grant to them. */
export const SECTION_NAMES: readonly Section[] = [
  'custom_fields',
  ...(Object.keys(SECTIONS) as (keyof typeof SECTIONS)[]).flatMap(name =>
    name === 'pricing_plans' ? (['wallet_types', name] as const) : [name],
  ),
  'coupons',
  'promotion_codes',
]

/** The resource of each section, as one of any rows. Modules that the catalog does not know register theirs. */
export type Resources = ReadonlyMap<Section, Resource>
export const resourcesOf = (uow: ReadUow): Resources =>
  new Map<Section, Resource>([
    ...(Object.entries(SECTIONS) as [Section, Resource][]),
    ...extensionsOf(uow, FILE_SECTIONS).map(({ section, resource }): [Section, Resource] => [section, resource]),
  ])

/** What an entry is found by: its reference. A custom field is of one type of resource, so both name it. */
export const nameOfEntry = (section: Section, entry: Row): string =>
  section === 'custom_fields'
    ? `${String(entry['resource_type'])} ${String(entry['reference'])}`
    : String(entry['reference'])

/** What a stored row is called in a file: its reference, or the code of a promotion code; null where it has none. */
export const referenceOf = (section: Section, row: StoredRow): string | null =>
  ((row as Row)[section === 'promotion_codes' ? 'code' : 'reference'] as string | null) ?? null

/** What a stored row is found by, as `nameOfEntry`. */
export function nameOfRow(section: Section, row: StoredRow): string | null {
  const reference = referenceOf(section, row)
  return reference === null ? null : nameOfEntry(section, { ...(row as Row), reference })
}

/** Fields with ids: what they are called in a file, where they hold references, and the section of what they name. */
export const REFERENCES: Readonly<Record<string, readonly [name: string, section: Section]>> = {
  meter_id: ['meter', 'meters'],
  meter_value_id: ['meter_value', 'meter_values'],
  meter_property_id: ['meter_property', 'meter_properties'],
  meter_value_calculation_id: ['meter_value_calculation', 'meter_value_calculations'],
  tiering_meter_value_calculation_id: ['tiering_meter_value_calculation', 'meter_value_calculations'],
  report_meter_value_calculation_ids: ['report_meter_value_calculations', 'meter_value_calculations'],
  meter_property_variable_id: ['variable', 'meter_property_variables'],
  category_id: ['category', 'product_categories'],
  parent_product_id: ['parent_product', 'products'],
  product_id: ['product', 'products'],
  credit_type_id: ['credit_type', 'credit_types'],
  wallet_type_id: ['wallet_type', 'wallet_types'],
  coupon_id: ['coupon', 'coupons'],
  product_category_ids: ['product_categories', 'product_categories'],
  product_ids: ['products', 'products'],
  product_item_ids: ['product_items', 'product_items'],
  pricing_plan_ids: ['pricing_plans', 'pricing_plans'],
}
