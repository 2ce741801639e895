// Which pricings a schedule sells only while it enables them.
import type { Pricing } from './table.ts'

/** ADDONs, and what is in a pricing group (semantics 3.1). */
export const isOptional = ({
  product_type,
  pricing_group_id,
}: Pick<Pricing, 'product_type' | 'pricing_group_id'>): boolean => product_type === 'ADDON' || pricing_group_id !== null
