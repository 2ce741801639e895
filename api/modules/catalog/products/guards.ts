// What a product item names stays while it does.
import { containing, namedBy } from '../../../resource/rules.ts'
import { conditionsIn } from '../conditions/guards.ts'
import { meterValueCalculationResource } from '../meters/meter-value-calculation.ts'
import { productItems } from './table.ts'

const byItem = { table: productItems, noun: 'product item' } as const

export const PRODUCT_GUARDS = [
  conditionsIn(productItems.usage_based, byItem),
  // The calculation that measures it has a foreign key.
  namedBy(meterValueCalculationResource, {
    ...byItem,
    names: containing(productItems.usage_based, id => ({ tiering_meter_value_calculation_id: id })),
  }),
] as const
