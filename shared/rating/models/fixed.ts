import { chargeFee, FEE_FIELDS, readFeeBand } from '../charge-band.ts'
import { charged, definePriceModel } from '../price-model.ts'

/** FIXED: a lump sum whatever the volume, even without usage. Semantics 3.2. */
export const fixed = definePriceModel({
  bands: 'one',
  basis: 'lump',
  perPricingPeriod: false,
  takes: FEE_FIELDS,
  read: readFeeBand,
  rate: ({ bands, volume }) => charged([chargeFee(bands[0], { units: volume.quantity, events: volume.count })]),
})
