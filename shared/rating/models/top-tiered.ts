import { chargeUnits, readUnitBand, UNIT_FIELDS } from '../charge-band.ts'
import { bandContaining, charged, definePriceModel, placedQuantity } from '../price-model.ts'

/** TOP_TIERED: the band that contains the volume prices all of it. A negative total counts as zero. Semantics 3.2. */
export const topTiered = definePriceModel({
  bands: 'tiers',
  basis: 'units',
  perPricingPeriod: true,
  placed: true,
  settings: ['blockRounding'],
  takes: UNIT_FIELDS,
  read: readUnitBand,
  rate: ({ bands, volume, position }) => {
    const band = bandContaining(bands, placedQuantity(position))
    return charged([chargeUnits(band, { units: placedQuantity(volume.quantity), events: volume.count })])
  },
})
