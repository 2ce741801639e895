// Which days a pause takes out of a billing period: local days, from the day it starts to the day before it ends
// (semantics 4.1, 4.4). Pure.
import { localDays } from '../../../../shared/billing/local-days.ts'
import type { BillingPeriod } from '../../../../shared/billing/periods.ts'
import { pausedDays } from '../../../../shared/billing/proration.ts'
import { type Instant, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import type { PriceCalendar } from '../terms/price-calendar.ts'

type Paused = Pick<PriceCalendar, 'pauses' | 'billingGrid'>

/** The period with the days that are still charged, or null when no day is. */
export function withoutPauses({ pauses, billingGrid: { zone } }: Paused, period: BillingPeriod): BillingPeriod | null {
  const days = pausedDays(period.covered, zone, pauses)
  if (days === 0) return period
  return days >= period.coveredDays ? null : { ...period, coveredDays: period.coveredDays - days }
}

/** When the first charged day of a period starts: at its start, or at the end of a pause that covers its start. */
export function firstCharged({ pauses, billingGrid: { zone } }: Paused, { start, end }: Interval): Instant {
  let first = start
  for (const pause of pauses.toSorted((a, b) => a.start - b.start)) {
    const isBefore = pause.start <= first || localDays(interval(first, pause.start), zone) === 0
    if (isBefore && pause.end > first && pause.end < end) first = instantOf(pause.end)
  }
  return first
}
