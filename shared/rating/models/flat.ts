import { boundNumber, chargeBand, type PriceModel } from '../price.ts'

/**
 * FLAT: fixed amount + amount × V ÷ block size, in proportion (part of a block costs its part); on an AMOUNT metric
 * percentage × metered money + amount × events. A negative volume gives a negative charge: corrections credit back
 * at the price they were charged at. Semantics 3.2.
 */
export const rateFlat: PriceModel = ({ bands, volume }) => {
  const { units, bound } = boundNumber(bands[0], volume.quantity)
  return [chargeBand({ bands, index: 0, metric: volume.metric, units, events: volume.count, numberBound: bound })]
}
