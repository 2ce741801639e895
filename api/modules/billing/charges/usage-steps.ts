// The usage that a charge is rated from: its own, and that of the time before it which decides how much of an included volume, or
// of the blocks that were bought, is left for it. Pure.
import { type Fraction, WHOLE } from '../../../../shared/billing/fraction.ts'
import { billingPeriodAt, billingPeriods } from '../../../../shared/billing/periods.ts'
import { periodShare } from '../../../../shared/billing/proration.ts'
import { usageInterval } from '../../../../shared/billing/usage-interval.ts'
import { type Instant, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import type { PriceCalendar, UsageQuestion } from '../terms/price-terms.ts'
import type { Charge } from './charges.ts'

/** A charge of a price in the order of time: what its pricing period used up to the end of it. */
export type UsageStep = {
  /** Equal for the steps of one pricing period, and of one billing period. */
  readonly pricingPeriod: Instant
  readonly billingPeriod: Instant
  /** What part of a full billing period it is in. */
  readonly share: Fraction
  /** From the start of its pricing period. */
  readonly usage: Interval
}

/** The time in which other usage decides on the tier: that of the pricing period so far, and as far as earlier invoices billed it. */
export function tieringTime(
  { calendar, usage, billedUsage, service }: Charge,
  { calculation }: UsageQuestion,
): { readonly now: Interval; readonly before: Interval | null } | null {
  if (!calendar || usage === null) return null
  const { span, pricingGrid } = calendar
  const from = billingPeriodAt(pricingGrid, span, service.start)?.covered.start ?? service.start
  const upTo = ({ end }: Interval) => usageInterval(calculation.persist, span.start, interval(from, end))
  return { now: upTo(usage), before: billedUsage && upTo(billedUsage) }
}

/** The steps from the earliest that matters to the charge's own, which is the last. None when the charge is not metered. */
export function usageSteps(charge: Charge): UsageStep[] {
  const { calendar, usage } = charge
  if (usage === null) return []
  const own = { pricingPeriod: usage.start, billingPeriod: usage.start, share: WHOLE, usage }
  const start = calendar && startOfSteps(charge, calendar)
  if (!calendar || start === null) return [own]
  const steps = stepsOf(charge, calendar, start)
  const last = steps.at(-1)
  if (!last) return [own]
  const known = [...steps.slice(0, -1), { ...last, usage }]
  return charge.config.default_included_volume ? known : lastOfEachPricingPeriod(known)
}

/** From when on usage matters; null when that of the charge alone does. */
function startOfSteps({ config, service }: Charge, { span, pricingGrid, billingGrid }: PriceCalendar): Instant | null {
  const reset = config.default_included_volume && (config.default_included_volume.reset_type ?? 'BILLING_PERIOD')
  if (config.top_up?.rollover === true || reset === 'SCHEDULE') return span.start
  const pricing = billingPeriodAt(pricingGrid, span, service.start)
  if (!reset || !pricing) return null
  if (reset === 'PRICING_PERIOD') return pricing.covered.start
  return billingPeriodAt(billingGrid, span, pricing.covered.start)?.covered.start ?? null
}

function stepsOf(
  { calculation, persisted, service, late }: Charge,
  { span, pricingGrid, billingGrid }: PriceCalendar,
  start: Instant,
): UsageStep[] {
  // What a late charge is counted from is that of its own time.
  const known = late === null ? persisted : []
  const persist = calculation?.persist === true
  return [...billingPeriods(billingGrid, { start, end: service.end })].flatMap(period =>
    [...billingPeriods(pricingGrid, period.covered)].map((piece): UsageStep => {
      const from = instantOf(Math.max(piece.full.start, span.start))
      return {
        pricingPeriod: from,
        billingPeriod: period.full.start,
        share: shareIn(period.full.start, { span, billingGrid }),
        usage: usageInterval(persist, span.start, interval(from, piece.covered.end), known),
      }
    }),
  )
}

/** By the days of the schedule in the billing period, also where the steps begin or end within it. */
function shareIn(start: Instant, { span, billingGrid }: Pick<PriceCalendar, 'span' | 'billingGrid'>): Fraction {
  const period = billingPeriodAt(billingGrid, span, instantOf(Math.max(start, span.start)))
  return period ? periodShare(period) : WHOLE
}

const lastOfEachPricingPeriod = (steps: readonly UsageStep[]): UsageStep[] =>
  steps.filter((step, index) => steps[index + 1]?.pricingPeriod !== step.pricingPeriod)
