import type { PriceModel } from '../price.ts'

/** NONE: not billed and no invoice line; the usage stays visible. Semantics 3.2. */
export const rateNone: PriceModel = () => []
