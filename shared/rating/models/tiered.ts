import { type Decimal, DIVISION_PLACES, min, quotient, ZERO } from '../../decimal.ts'
import { chargeUnits, readUnitBand, UNIT_FIELDS, type UnitBand } from '../charge-band.ts'
import type { BandCharge } from '../price.ts'
import {
  bandContaining,
  charged,
  definePriceModel,
  type ModelResult,
  type Placeds,
  placedQuantity,
} from '../price-model.ts'

/** The charges of the first bands when each is used up to its bound, and their sum. */
type Whole = { readonly charges: readonly BandCharge[]; readonly total: Decimal }
const wholes = new WeakMap<Placeds<UnitBand>, Whole[]>()

/** By number of bands: the result is the same for every volume beyond their bounds, so each is computed once. */
function wholeBands(bands: Placeds<UnitBand>): readonly Whole[] {
  const known = wholes.get(bands)
  if (known) return known
  const found: Whole[] = [{ charges: [], total: ZERO }]
  for (const band of bands) {
    if (band.top === null) break
    const before = found.at(-1) ?? { charges: [], total: ZERO }
    const charge = chargeUnits(band, { units: band.top.minus(band.floor), events: ZERO })
    found.push({ charges: [...before.charges, charge], total: before.total.plus(charge.quantity) })
  }
  wholes.set(bands, found)
  return found
}

/** The bands of units without events: whole bands first, then the rest of the volume in the band it ends in. */
function rateAlone(bands: Placeds<UnitBand>, units: Decimal): ModelResult {
  const last = bandContaining(bands, units)
  const { charges, total } = wholeBands(bands)[last.index] ?? { charges: [], total: ZERO }
  const charge = chargeUnits(last, { units: last.index === 0 ? units : units.minus(last.floor), events: ZERO })
  return {
    charges: [...charges, charge],
    total: last.index === 0 ? charge.quantity : total.plus(charge.quantity),
    rollover: ZERO,
  }
}

/**
 * TIERED: progressive. Each slice of the volume is charged at the price of its own band, plus the fixed amount of each
 * band entered. The first band contains zero, so it is entered without usage too; a negative total counts as zero.
 * Single events have no position on a scale of money, so each band gets a share of them in proportion to its share of
 * the money. A volume whose tiers go by another metric is split the same way. Semantics 3.2.
 */
export const tiered = definePriceModel({
  bands: 'tiers',
  basis: 'units',
  perPricingPeriod: true,
  placed: true,
  slices: true,
  settings: ['blockRounding'],
  takes: UNIT_FIELDS,
  read: readUnitBand,
  rate: ({ bands, volume, position }) => {
    const units = placedQuantity(volume.quantity)
    const total = position === volume.quantity ? units : placedQuantity(position)
    const isOwnMetric = units === total || units.eq(total)
    const hasEvents = volume.metric === 'AMOUNT' && !volume.count.eq(ZERO)
    if (isOwnMetric && !hasEvents) return rateAlone(bands, units)
    const charges: BandCharge[] = []
    for (const band of bands) {
      if (band.index > 0 && total.lte(band.floor)) break
      const slice = (band.top === null ? total : min(band.top, total)).minus(band.floor)
      const part = (whole: Decimal): Decimal =>
        slice.eq(total) ? whole : quotient(whole.times(slice), total, DIVISION_PLACES)
      const events = volume.metric === 'AMOUNT' ? part(volume.count) : ZERO
      charges.push(chargeUnits(band, { units: isOwnMetric ? slice : part(units), events }))
    }
    return charged(charges)
  },
})
