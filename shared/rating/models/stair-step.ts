import { chargeFee, FEE_FIELDS, readFeeBand } from '../charge-band.ts'
import { bandContaining, charged, definePriceModel, placedQuantity } from '../price-model.ts'

/**
 * STAIR_STEP: charges the fee of the band that contains the volume, without a unit price; `step_accumulation:
 * STEPS_REACHED` charges the fees of all bands up to it. The first band contains zero, so its fee is charged without
 * usage too. A negative total counts as zero. Semantics 3.2.
 */
export const stairStep = definePriceModel({
  bands: 'tiers',
  basis: 'lump',
  perPricingPeriod: true,
  placed: true,
  settings: ['stepAccumulation'],
  takes: FEE_FIELDS,
  read: readFeeBand,
  rate: ({ bands, volume, position, settings }) => {
    const use = { units: placedQuantity(volume.quantity), events: volume.count }
    const reached = bandContaining(bands, placedQuantity(position))
    const steps = settings.stepAccumulation === 'NONE' ? [reached] : bands.slice(0, reached.index + 1)
    return charged(steps.map(step => chargeFee(step, use)))
  },
})
