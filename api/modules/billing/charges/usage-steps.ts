// The usage that a charge is rated from: its own, and earlier usage that decides how much included volume or how much
// of a bought block is left for it. Pure.
import { type Fraction, NOTHING, WHOLE } from '../../../../shared/billing/fraction.ts'
import { type BillingPeriod, billingPeriodAt, billingPeriods } from '../../../../shared/billing/periods.ts'
import { periodShare } from '../../../../shared/billing/proration.ts'
import { usageInterval } from '../../../../shared/billing/usage-interval.ts'
import type { IncludedVolume } from '../../../../shared/rating/included/included-volume.ts'
import { type Instant, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import { includedAt, includedIn } from '../../subscriptions/included-volumes/included-spans.ts'
import type { PriceCalendar } from '../terms/price-calendar.ts'
import type { FilteredCalculation } from '../terms/price-terms.ts'
import type { Charge } from './charge.ts'
import { withoutPauses } from './paused-days.ts'

/** One step of a price's usage over time: what its pricing period used up to the end of the step. */
export type UsageStep = {
  /** The same key for all steps of one pricing period, and for all of one billing period. */
  readonly pricingPeriod: Instant
  readonly billingPeriod: Instant
  /** The fraction of a full billing period that it covers. */
  readonly share: Fraction
  /** From the start of its pricing period. */
  readonly usage: Interval
  /** What is included of its window, where the schedule states it; otherwise null. */
  readonly granted: IncludedVolume | null
}

/**
 * The time in which other usage decides the tier: the pricing period so far, and the part of it that earlier invoices
 * billed.
 */
export function tieringTime(
  { calendar, usage, billedUsage, service }: Charge,
  { calculation }: FilteredCalculation,
): { readonly now: Interval; readonly before: Interval | null } | null {
  if (!calendar || usage === null) return null
  const { span, since, pricingGrid } = calendar
  const from = billingPeriodAt(pricingGrid, span, service.start)?.covered.start ?? service.start
  const upTo = ({ end }: Interval) => usageInterval(calculation.persist, since, interval(from, end))
  return { now: upTo(usage), before: billedUsage && upTo(billedUsage) }
}

/**
 * The steps from the earliest that affects the charge to the charge's own step, which is last. None when the charge is
 * not metered.
 */
export function usageSteps(charge: Charge): UsageStep[] {
  const { calendar, usage } = charge
  if (usage === null) return []
  const own = { pricingPeriod: usage.start, billingPeriod: usage.start, share: WHOLE, usage, granted: null }
  const start = calendar && startOfSteps(charge, calendar)
  if (!calendar || start === null) return [own]
  const steps = stepsOf(charge, calendar, start)
  const last = steps.at(-1)
  if (!last) return [own]
  const known = [...steps.slice(0, -1), { ...last, usage }]
  return charge.config.default_included_volume ? known : lastOfEachPricingPeriod(known)
}

/** From when on usage affects the charge; null when only the charge's own usage does. */
function startOfSteps({ config, service }: Charge, { span, pricingGrid, billingGrid }: PriceCalendar): Instant | null {
  const reset = config.default_included_volume && (config.default_included_volume.reset_type ?? 'BILLING_PERIOD')
  if (config.top_up?.rollover === true || reset === 'SCHEDULE') return span.start
  const pricing = billingPeriodAt(pricingGrid, span, service.start)
  if (!reset || !pricing) return null
  if (reset === 'PRICING_PERIOD') return pricing.covered.start
  return billingPeriodAt(billingGrid, span, pricing.covered.start)?.covered.start ?? null
}

function stepsOf(charge: Charge, calendar: PriceCalendar, start: Instant): UsageStep[] {
  const { span, since, pricingGrid, billingGrid } = calendar
  const { calculation, persisted, service, late } = charge
  // A late charge is counted from what was persisted in its own time.
  const known = late === null ? persisted : []
  const persist = calculation?.persist === true
  return [...billingPeriods(billingGrid, { start, end: service.end })].flatMap(period =>
    [...billingPeriods(pricingGrid, period.covered)].map((piece): UsageStep => {
      const from = instantOf(Math.max(piece.full.start, span.start))
      return {
        pricingPeriod: from,
        billingPeriod: period.full.start,
        share: shareIn(period.full.start, calendar),
        usage: usageInterval(persist, since, interval(from, piece.covered.end), known),
        granted: grantedIn(charge, calendar, { period, piece }),
      }
    }),
  )
}

type Step = { readonly period: BillingPeriod; readonly piece: BillingPeriod }

/** What the schedule includes of the window that a step is of; null where it states nothing. */
function grantedIn(
  { included, config }: Charge,
  { span, pricingGrid, billingGrid, pauses }: PriceCalendar,
  { period, piece }: Step,
): IncludedVolume | null {
  if (!included) return null
  const { zone } = billingGrid
  const reset = config.default_included_volume?.reset_type ?? 'BILLING_PERIOD'
  if (reset === 'SCHEDULE') return includedAt(included, instantOf(piece.covered.end - 1))
  if (reset === 'PRICING_PERIOD') {
    const { covered } = billingPeriodAt(pricingGrid, span, piece.covered.start) ?? piece
    return includedIn(included, { covered, whole: covered, zone })
  }
  const whole = billingPeriodAt(billingGrid, span, instantOf(Math.max(period.full.start, span.start))) ?? period
  return includedIn(included, { covered: whole.covered, whole: whole.full, zone, pauses })
}

/** By the days of the schedule in the billing period that are not paused, even where the steps begin or end within it. */
function shareIn(start: Instant, calendar: PriceCalendar): Fraction {
  const { span, billingGrid } = calendar
  const period = billingPeriodAt(billingGrid, span, instantOf(Math.max(start, span.start)))
  if (!period) return WHOLE
  const unpaused = withoutPauses(calendar, period)
  return unpaused ? periodShare(unpaused) : NOTHING
}

const lastOfEachPricingPeriod = (steps: readonly UsageStep[]): UsageStep[] =>
  steps.filter((step, index) => steps[index + 1]?.pricingPeriod !== step.pricingPeriod)
