import { AMOUNT_LIMITS, chargeOf, readLimits } from '../charge-band.ts'
import { charged, definePriceModel } from '../price-model.ts'

/**
 * FLEXIBLE: the customer chooses the amount of an on-demand charge, and the volume is that amount. The minimum and
 * maximum amount of its band bound the choice: `flexibleFault` refuses any other amount when the order is taken, so
 * rating need never change it. Semantics 3.2.
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
