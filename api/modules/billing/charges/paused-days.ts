// Which days a pause takes out of a billing period: local days, from the day it starts to the day before it ends
// (semantics 4.1, 4.4). Pure.

import { localDays } from '../../../../shared/billing/local-days.ts'
import type { BillingPeriod } from '../../../../shared/billing/periods.ts'
import { intersect } from '../../../../shared/time.ts'
import type { PriceCalendar } from '../terms/price-calendar.ts'

type Paused = Pick<PriceCalendar, 'pauses' | 'billingGrid'>

/** The period with the days that are still charged, or null when no day is. */
export function withoutPauses({ pauses, billingGrid: { zone } }: Paused, period: BillingPeriod): BillingPeriod | null {
  const paused = pauses.flatMap(pause => intersect(pause, period.covered) ?? [])
  if (paused.length === 0) return period
  const days = paused.reduce((sum, each) => sum + localDays(each, zone), 0)
  if (days === 0) return period
  return days >= period.coveredDays ? null : { ...period, coveredDays: period.coveredDays - days }
}
