import { chargeUnits, readUnitBand, UNIT_FIELDS } from '../charge-band.ts'
import { charged, definePriceModel } from '../price-model.ts'

/**
 * FLAT: fixed amount + amount × V ÷ block size, in proportion (part of a block costs its share); on an AMOUNT metric
 * percentage × metered money + amount × events. A negative volume gives a negative charge, so a correction is credited
 * at the price it was charged at. Semantics 3.2.
 */
export const flat = definePriceModel({
  bands: 'one',
  basis: 'units',
  perPricingPeriod: true,
  byUnits: true,
  settings: ['blockRounding'],
  takes: UNIT_FIELDS,
  read: readUnitBand,
  rate: ({ bands, volume }) => charged([chargeUnits(bands[0], { units: volume.quantity, events: volume.count })]),
})
