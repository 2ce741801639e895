// Prices with the same `volume_group_reference` are placed in tiers by their usage together (semantics 3.1).
import { type Fraction, fraction, timesFraction } from '../billing/fraction.ts'
import { decimalOfInteger, ONE, sum, ZERO } from '../decimal.ts'
import { amount } from '../money.ts'
import type { BandCharge, Volume } from './price.ts'
import { type PriceConfig, type RatedPrice, rate } from './rate.ts'

export type PooledPrice = {
  /** The usage of the whole pool. */
  readonly volume: Volume
  /** The member's part of it. */
  readonly share: Fraction
  /**
   * What the member is charged: its share of every band, exact. The pieces of its charges are those of the whole pool.
   */
  readonly rated: RatedPrice
}

/**
 * Rates a member of a pool by its own bands: the volume of the pool is placed in the tiers, and the member is charged
 * its share of each band. Members with equal bands sum to the price of the pool, in any order. A pool with zero or
 * negative usage is shared equally. Throws RangeError when members are metered in different units.
 */
export function rateInPool(config: PriceConfig, own: Volume, others: readonly Volume[]): PooledPrice {
  const all = [own, ...others]
  const kinds = new Set(all.map(volume => (volume.metric === 'AMOUNT' ? volume.currency : volume.metric)))
  if (kinds.size > 1) throw new RangeError(`a pool has one unit, not ${[...kinds].join(' and ')}`)
  const quantity = sum(all.map(volume => volume.quantity))
  const count = sum(all.map(volume => volume.count))
  const volume: Volume = { ...own, quantity, count }
  const share = quantity.gt(ZERO) ? fraction(own.quantity, quantity) : fraction(ONE, decimalOfInteger(all.length))
  const whole = rate(config, volume)
  return {
    volume,
    share,
    rated: {
      ...whole,
      volume: own,
      charges: whole.charges.map(charge => shareOfCharge(charge, share)),
      total: amount(timesFraction(whole.total.quantity, share), config.currency),
    },
  }
}

const shareOfCharge = (charge: BandCharge, share: Fraction): BandCharge => ({
  ...charge,
  units: timesFraction(charge.units, share),
  events: timesFraction(charge.events, share),
  quantity: timesFraction(charge.quantity, share),
})
