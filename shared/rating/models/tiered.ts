import { type Decimal, ZERO } from '../../decimal.ts'
import { type Charge, chargeBand, lowerBoundOf, type PriceModel, placedQuantity, type Volume } from '../price.ts'

/** Events cannot be placed on a money scale one by one, so a band takes them in proportion to its part of the money. */
const eventsOfSlice = (volume: Volume, units: Decimal, total: Decimal): Decimal =>
  units.eq(total) ? volume.count : volume.count.times(units).div(total)

/**
 * TIERED: progressive; every slice of the volume at the price of its own band, plus the fixed amount of each band
 * entered. A band is entered when it takes units, so no usage (or a negative total) charges nothing. Semantics 3.2.
 */
export const rateTiered: PriceModel = ({ bands, volume }) => {
  const total = placedQuantity(volume)
  const charges: Charge[] = []
  for (const [index, band] of bands.entries()) {
    const floor = lowerBoundOf(bands, index)
    const ceiling = band.topBound?.lt(total) ? band.topBound : total
    const units = ceiling.minus(floor)
    if (units.lte(ZERO)) break
    charges.push(
      chargeBand({ bands, index, metric: volume.metric, units, events: eventsOfSlice(volume, units, total) }),
    )
  }
  return charges
}
