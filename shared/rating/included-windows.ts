// Included volume over time: when it is granted anew, what of it a partial period has, and what is kept (semantics 3.3).
import { type Fraction, timesFraction } from '../billing/fraction.ts'
import {
  applyIncludedVolume,
  type IncludedVolume,
  type IncludedVolumeDetails,
  type IncludedVolumeReset,
  NOTHING_INCLUDED,
} from './included-volume.ts'
import type { Volume } from './price.ts'

/** One pricing period of usage, in the order of time. */
export type IncludedPeriod = {
  readonly volume: Volume
  /** Equal for the periods of one billing period, and of one pricing period. */
  readonly billingPeriod: string
  readonly pricingPeriod: string
  /** What part of a full billing period it is in. */
  readonly share: Fraction
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
 * Takes included volume off the periods of one schedule. Each window has it once: a partial billing period its part by
 * days, and SCHEDULE all of it once and for good. The rest of a window is lost, or with rollover added to the next.
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
      const own = reset === 'BILLING_PERIOD' ? times(included, period.share) : included
      granted = rollover && window !== null ? plus(own, left) : own
      used = NOTHING_INCLUDED
      window = current
    }
    const result = applyIncludedVolume(period.volume, granted, used)
    used = plus(used, result.details.used)
    left = result.details.left
    return result
  })
}
