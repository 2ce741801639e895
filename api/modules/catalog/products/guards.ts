// What a product item names stays while it does.
import { conditionsIn } from '../conditions/guards.ts'
import { productItems } from './table.ts'

export const PRODUCT_GUARDS = [
  conditionsIn(productItems.usage_based, { table: productItems, noun: 'product item' }),
] as const
