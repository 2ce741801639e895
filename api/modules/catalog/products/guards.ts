// What products and their items name stays while they do.
import { containing, namedBy } from '../../../resource/rules.ts'
import { conditionsIn } from '../conditions/guards.ts'
import { featureResource } from '../features/feature.ts'
import { meterValueCalculationResource } from '../meters/meter-value-calculation.ts'
import { productItems, products } from './table.ts'

const byItem = { table: productItems, noun: 'product item' } as const

export const PRODUCT_GUARDS = [
  namedBy(featureResource, {
    table: products,
    noun: 'product',
    names: containing(products.features, id => [{ id }]),
  }),
  conditionsIn(productItems.usage_based, byItem),
  // The calculation that measures it has a foreign key.
  namedBy(meterValueCalculationResource, {
    ...byItem,
    names: containing(productItems.usage_based, id => ({ tiering_meter_value_calculation_id: id })),
  }),
  namedBy(meterValueCalculationResource, {
    ...byItem,
    names: containing(productItems.usage_based, id => ({ report_meter_value_calculation_ids: [id] })),
  }),
] as const
