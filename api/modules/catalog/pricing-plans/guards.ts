// What a pricing names stays while it does: products, items, variables of conditions, features, and groups.
import { arrayContains, eq } from 'drizzle-orm'
import { idOf } from '../../../../shared/ids.ts'
import { containing, namedBy } from '../../../resource/rules.ts'
import { conditionsIn } from '../conditions/guards.ts'
import { entitlementsIn } from '../features/guards.ts'
import { productItemResource, productResource } from '../products/product.ts'
import { pricingGroupResource } from './selection/pricing-group.ts'
import { pricings } from './table.ts'

const byPricing = { table: pricings, noun: 'pricing' } as const

export const PRICING_GUARDS = [
  namedBy(productResource, { ...byPricing, names: id => arrayContains(pricings.product_ids, [id]) }),
  namedBy(productItemResource, {
    ...byPricing,
    names: containing(pricings.items, id => [{ product_item_ids: [id] }]),
  }),
  namedBy(pricingGroupResource, { ...byPricing, names: id => eq(pricings.pricing_group_id, idOf('prgr', id)) }),
  conditionsIn(pricings.items, byPricing),
  ...entitlementsIn(byPricing),
] as const
