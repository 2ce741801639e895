// Included volume: free usage, deducted before the price sees the rest (semantics 3.3).
import { type Decimal, max, min, ZERO } from '../../decimal.ts'
import type { Volume } from '../price.ts'

/** When the unused rest is lost. */
export const INCLUDED_VOLUME_RESETS = ['BILLING_PERIOD', 'PRICING_PERIOD', 'SCHEDULE'] as const
export type IncludedVolumeReset = (typeof INCLUDED_VOLUME_RESETS)[number]

export type IncludedVolume = {
  /** Free units, or free money on an AMOUNT metric, in the reset window (already prorated). */
  readonly quantity: Decimal
  /** Free events: they lower only the count that an AMOUNT metric is charged by. */
  readonly count: Decimal
}

export type IncludedVolumeDetails = {
  /** Granted for the reset window. */
  readonly included: IncludedVolume
  /** What earlier usage in the same window left of the grant. */
  readonly available: IncludedVolume
  /** What this volume uses of it. */
  readonly used: IncludedVolume
  /** Left for later usage in the same window. */
  readonly left: IncludedVolume
  /** The whole volume of the period, before the reduction. */
  readonly periodVolume: Volume
}

export const NOTHING_INCLUDED: IncludedVolume = { quantity: ZERO, count: ZERO }

const remaining = (of: IncludedVolume, used: IncludedVolume): IncludedVolume => ({
  quantity: max(of.quantity.minus(used.quantity), ZERO),
  count: max(of.count.minus(used.count), ZERO),
})

/**
 * Deducts included volume from `volume`. Tiers then start from the remainder. `usedBefore` is what earlier periods of
 * the same reset window used (zero when the window is the period). A negative volume uses nothing and is returned
 * unchanged.
 */
export function applyIncludedVolume(
  volume: Volume,
  included: IncludedVolume,
  usedBefore: IncludedVolume = NOTHING_INCLUDED,
): { billable: Volume; details: IncludedVolumeDetails } {
  const available = remaining(included, usedBefore)
  const used = {
    quantity: min(max(volume.quantity, ZERO), available.quantity),
    count: min(max(volume.count, ZERO), available.count),
  }
  const billable = {
    ...volume,
    quantity: volume.quantity.minus(used.quantity),
    count: volume.count.minus(used.count),
  }
  const left = remaining(available, used)
  return { billable, details: { included, available, used, left, periodVolume: volume } }
}
