// Which pricings a schedule sells only while it enables them.
import { type SQL, sql } from 'drizzle-orm'
import type { Pricing } from '../table.ts'

/** ADDONs, and what is in a pricing group (semantics 3.1). */
export const isOptional = ({
  product_type,
  pricing_group_id,
}: Pick<Pricing, 'product_type' | 'pricing_group_id'>): boolean => product_type === 'ADDON' || pricing_group_id !== null

/** The same in SQL, of the pricings that a query calls `alias`. */
export const isOptionalIn = (alias: 'p' | 'addon' | 'pricings'): SQL =>
  sql.raw(`(${alias}.product_type = 'ADDON' or ${alias}.pricing_group_id is not null)`)
