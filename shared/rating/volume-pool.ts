// Configs with one `volume_group_reference` find their tier by what they use together (semantics 3.1).

import { type Fraction, fraction, timesFraction } from '../billing/fraction.ts'
import { decimalOfInteger, ONE, sum, ZERO } from '../decimal.ts'
import { amount } from '../money.ts'
import type { Volume } from './price.ts'
import { type PriceConfig, type RatedPrice, rate } from './rate.ts'

export type PoolMember = { readonly key: string; readonly config: PriceConfig; readonly volume: Volume }
export type PooledPrice = {
  readonly key: string
  /** The price of the whole pool by the member's own bands. */
  readonly pool: RatedPrice
  /** The member's part of the pool's volume. */
  readonly volumeShare: Fraction
  /** What the member is charged: its share of every band, exact. */
  readonly total: RatedPrice['total']
}

/**
 * Rates the members of a pool: its whole volume walks the tiers, and every member takes, in each band, the band times its
 * share. Members with equal bands sum to the price of the pool; their order does not matter. A pool without usage, or
 * with less than none, is shared alike. Throws RangeError when members are metered in different units.
 */
export function ratePool(members: readonly PoolMember[]): PooledPrice[] {
  const [first] = members
  if (!first) return []
  const kinds = new Set(members.map(({ volume }) => (volume.metric === 'AMOUNT' ? volume.currency : volume.metric)))
  if (kinds.size > 1) throw new RangeError(`a pool has one unit, not ${[...kinds].join(' and ')}`)
  const quantity = sum(members.map(({ volume }) => volume.quantity))
  const count = sum(members.map(({ volume }) => volume.count))
  const whole: Volume = { ...first.volume, quantity, count }
  return members.map(({ key, config, volume }) => {
    const volumeShare = quantity.gt(ZERO)
      ? fraction(volume.quantity, quantity)
      : fraction(ONE, decimalOfInteger(members.length))
    const pool = rate(config, whole)
    return {
      key,
      pool,
      volumeShare,
      total: amount(timesFraction(pool.total.quantity, volumeShare), config.currency),
    }
  })
}
