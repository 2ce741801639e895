// Included volume over time: when it is granted again, how much a partial period gets, and what is kept (semantics
// 3.3).
import { type Fraction, timesFraction } from '../../billing/fraction.ts'
import type { Volume } from '../price.ts'
import {
  applyIncludedVolume,
  type IncludedVolume,
  type IncludedVolumeDetails,
  type IncludedVolumeReset,
  NOTHING_INCLUDED,
} from './included-volume.ts'

/** One pricing period of usage, in order of time. */
export type IncludedPeriod = {
  readonly volume: Volume
  /** The same key for all pricing periods of one billing period, and for all of one pricing period. */
  readonly billingPeriod: string
  readonly pricingPeriod: string
  /** The fraction of a full billing period that it covers. */
  readonly share: Fraction
  /** What its window is granted, where that changes over time; absent or null: what the terms say. */
  readonly granted?: IncludedVolume | null
}

export type IncludedTerms = {
  readonly included: IncludedVolume
  readonly reset: IncludedVolumeReset
  /** Whether the unused rest of a window is added to the next one. */
  readonly rollover: boolean
}

const times = (of: IncludedVolume, share: Fraction): IncludedVolume => ({
  quantity: timesFraction(of.quantity, share),
  count: timesFraction(of.count, share),
})
const plus = (a: IncludedVolume, b: IncludedVolume): IncludedVolume => ({
  quantity: a.quantity.plus(b.quantity),
  count: a.count.plus(b.count),
})

const WINDOW: Readonly<Record<IncludedVolumeReset, (period: IncludedPeriod) => string>> = {
  BILLING_PERIOD: ({ billingPeriod }) => billingPeriod,
  PRICING_PERIOD: ({ pricingPeriod }) => pricingPeriod,
  SCHEDULE: () => '',
}

/**
 * Deducts included volume from the periods of one schedule. Each window is granted it once: a partial billing period
 * gets its share by days, and SCHEDULE grants all of it once for the whole schedule. The rest of a window is lost, or
 * with rollover added to the next.
 */
export function applyIncludedOverTime(
  periods: readonly IncludedPeriod[],
  { included, reset, rollover }: IncludedTerms,
): { readonly billable: Volume; readonly details: IncludedVolumeDetails }[] {
  let window: string | null = null
  let granted = NOTHING_INCLUDED
  let used = NOTHING_INCLUDED
  let left = NOTHING_INCLUDED
  return periods.map(period => {
    const current = WINDOW[reset](period)
    if (current !== window) {
      const own = period.granted ?? (reset === 'BILLING_PERIOD' ? times(included, period.share) : included)
      granted = rollover && window !== null ? plus(own, left) : own
      used = NOTHING_INCLUDED
      window = current
    } else if (reset === 'SCHEDULE' && period.granted) granted = period.granted
    const result = applyIncludedVolume(period.volume, granted, used)
    used = plus(used, result.details.used)
    left = result.details.left
    return result
  })
}
