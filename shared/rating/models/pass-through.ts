import { AMOUNT_LIMITS, chargeOf, percentOf, readLimits } from '../charge-band.ts'
import type { Piece } from '../price.ts'
import { charged, definePriceModel } from '../price-model.ts'

/**
 * PASS_THROUGH: bills metered money unchanged, plus a percentage of it where one is given. Refunded money is passed on
 * too. It needs no band. Semantics 3.2.
 */
export const passThrough = definePriceModel({
  bands: 'one',
  basis: 'units',
  perPricingPeriod: true,
  metrics: ['AMOUNT'],
  needsPrice: false,
  bandIsOptional: true,
  takes: ['percentage', ...AMOUNT_LIMITS],
  read: ({ percentage, ...limits }) => ({ percentage, limits: readLimits(limits) }),
  rate: ({ bands: [band], volume }) => {
    const { percentage } = band.reads
    const base = volume.quantity
    const pieces: Piece[] = [{ kind: 'PASSED', quantity: base }]
    if (percentage !== null) {
      pieces.push({ kind: 'PERCENTAGE', quantity: percentOf(percentage, base), base, percentage })
    }
    return charged([chargeOf(band, { units: base, events: volume.count }, pieces)])
  },
})
