import { type Decimal, min, ZERO } from '../../decimal.ts'
import { chargeUnits, readUnitBand, UNIT_FIELDS, type UnitBand } from '../charge-band.ts'
import type { BandCharge } from '../price.ts'
import { charged, definePriceModel, type Placed, placedQuantity } from '../price-model.ts'

const wholeBands = new WeakMap<Placed<UnitBand>, BandCharge>()

/** The charge of a band that is used to its bound: the same for every volume beyond it, so it is computed once. */
function wholeBand(band: Placed<UnitBand>, top: Decimal): BandCharge {
  const known = wholeBands.get(band)
  if (known) return known
  const charge = chargeUnits(band, { units: top.minus(band.floor), events: ZERO })
  wholeBands.set(band, charge)
  return charge
}

/**
 * TIERED: progressive; every slice of the volume at the price of its own band, plus the fixed amount of each band
 * entered. The first band contains zero, so it is entered without usage too; a negative total counts as zero. Events
 * cannot be placed on a scale of money one by one, so a band takes them in proportion to its part of it; so does a volume
 * whose tiers go by another metric. Semantics 3.2.
 */
export const tiered = definePriceModel({
  bands: 'tiers',
  basis: 'units',
  perPricingPeriod: true,
  placed: true,
  takes: UNIT_FIELDS,
  read: readUnitBand,
  rate: ({ bands, volume, position }) => {
    const total = placedQuantity(position)
    const units = placedQuantity(volume.quantity)
    const isOwnMetric = units.eq(total)
    const charges: BandCharge[] = []
    for (const band of bands) {
      if (band.index > 0 && total.lte(band.floor)) break
      if (isOwnMetric && volume.metric === 'NUMBER' && band.top !== null && total.gte(band.top)) {
        charges.push(wholeBand(band, band.top))
        continue
      }
      const slice = (band.top === null ? total : min(band.top, total)).minus(band.floor)
      const part = (whole: Decimal): Decimal => (slice.eq(total) ? whole : whole.times(slice).div(total))
      const events = volume.metric === 'AMOUNT' ? part(volume.count) : ZERO
      charges.push(chargeUnits(band, { units: isOwnMetric ? slice : part(units), events }))
    }
    return charged(charges)
  },
})
