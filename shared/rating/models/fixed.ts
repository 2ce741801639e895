import { chargeLump, type PriceModel } from '../price.ts'

/** FIXED: a lump sum whatever the volume, also without any. Semantics 3.2. */
export const rateFixed: PriceModel = ({ bands, volume }) => [
  chargeLump({ bands, index: 0, metric: volume.metric, units: volume.quantity, events: volume.count }),
]
