import { bandContaining, chargeBand, type PriceModel, placedQuantity } from '../price.ts'

/** TOP_TIERED: the band that contains the whole volume prices all of it. A negative total counts as zero. Semantics 3.2. */
export const rateTopTiered: PriceModel = ({ bands, volume }) => {
  const units = placedQuantity(volume)
  const index = bandContaining(bands, units)
  return [chargeBand({ bands, index, metric: volume.metric, units, events: volume.count })]
}
