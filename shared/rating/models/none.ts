import { charged, definePriceModel } from '../price-model.ts'

/** NONE: not billed and without an invoice line; its usage stays visible. Semantics 3.2. */
export const none = definePriceModel({
  bands: 'none',
  basis: 'nothing',
  perPricingPeriod: false,
  takes: [],
  read: () => null,
  rate: () => charged([]),
})
