// How much of a lump sum that spans several billing periods was charged in earlier ones. Pure.
import { addFractions, type Fraction, multiplyFractions, NOTHING } from '../../../../shared/billing/fraction.ts'
import { billingPeriodAt, billingPeriods } from '../../../../shared/billing/periods.ts'
import { periodShare, pricingScale } from '../../../../shared/billing/proration.ts'
import { isMetered } from '../terms/price-terms.ts'
import type { Charge } from './charge.ts'
import { withoutPauses } from './paused-days.ts'

/**
 * The shares of a lump sum that earlier billing periods of the same pricing period were charged; null for the first of
 * them.
 */
export function chargedShares(charge: Charge): Fraction | null {
  const { calendar, pricingPeriod, billingPeriod } = charge
  const until = charge.period.covered.start
  const pricing = calendar && billingPeriodAt(calendar.pricingGrid, calendar.span, until)
  if (!pricing || pricing.covered.start >= until) return null
  const { start } = pricing.covered
  let share = NOTHING
  for (const period of billingPeriods(calendar.billingGrid, { start, end: until })) {
    // A billing period that began in the pricing period before belongs to that one.
    if (period.full.start < start && calendar.span.start < start) continue
    const left = withoutPauses(calendar, period)
    if (!left) continue
    const scale = pricingScale(pricingPeriod, billingPeriod, period.full, calendar.billingGrid)
    share = addFractions(share, isMetered(charge) ? scale : multiplyFractions(scale, periodShare(left)))
  }
  return share
}
