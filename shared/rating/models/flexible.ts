import { AMOUNT_LIMITS, chargeOf, readLimits } from '../charge-band.ts'
import { charged, definePriceModel } from '../price-model.ts'

/**
 * FLEXIBLE: the customer chooses the amount of an on-demand charge; the volume is what was chosen. The amounts of its band
 * bound the choice: who takes the order refuses one outside (`flexibleFault`), so rating need never change it. Semantics 3.2.
 */
export const flexible = definePriceModel({
  bands: 'one',
  basis: 'chosen',
  perPricingPeriod: false,
  takes: AMOUNT_LIMITS,
  read: limits => ({ limits: readLimits(limits) }),
  rate: ({ bands: [band], volume }) =>
    charged([
      chargeOf(band, { units: volume.quantity, events: volume.count }, [{ kind: 'FEE', quantity: volume.quantity }]),
    ]),
})
