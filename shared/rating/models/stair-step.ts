import { bandContaining, chargeLump, type PriceModel, placedQuantity } from '../price.ts'

/**
 * STAIR_STEP: the fee of the band that contains the volume, no unit price. The first band contains zero, so its fee is
 * asked without usage too. A negative total counts as zero. Semantics 3.2.
 */
export const rateStairStep: PriceModel = ({ bands, volume }) => {
  const units = placedQuantity(volume)
  const index = bandContaining(bands, units)
  return [chargeLump({ bands, index, metric: volume.metric, units, events: volume.count })]
}
