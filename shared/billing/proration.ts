// What share of a full charge a partial period owes, and how a price per one period is charged per another (4.4, 3.3).
import type { Decimal } from '../decimal.ts'
import { type Interval, intersect } from '../time.ts'
import { addFractions, type Fraction, fraction, NOTHING, timesFraction } from './fraction.ts'
import { localDays, type Zone } from './local-days.ts'
import { type BillingPeriod, billingPeriods, type PeriodGrid, type PeriodLength, stepOf } from './periods.ts'

/** Covered local days ÷ local days of the full period. */
export const periodShare = (period: Pick<BillingPeriod, 'coveredDays' | 'fullDays'>): Fraction =>
  fraction(period.coveredDays, period.fullDays)

/**
 * The share of `full` that `part` covers (seats, discounts, commitments that start or end inside a period), without the
 * days of pauses.
 */
export function shareOf(part: Interval, full: Interval, zone: Zone, pauses: readonly Interval[] = []): Fraction {
  const covered = intersect(part, full)
  if (!covered) return NOTHING
  const days = localDays(full, zone)
  // A period inside one local day has no day to count; it is owed in full or not at all.
  if (days === 0) return fraction(1, 1)
  return fraction(Math.max(localDays(covered, zone) - pausedDays(covered, zone, pauses), 0), days)
}

/** The local days that pauses, which do not overlap, take out of a time: from the day each starts to the day before it ends. */
export function pausedDays(time: Interval, zone: Zone, pauses: readonly Interval[]): number {
  let days = 0
  for (const pause of pauses) {
    const off = intersect(pause, time)
    if (off) days += localDays(off, zone)
  }
  return days
}

/** A full charge reduced to its share, exact: multiplied before it is divided, and never rounded to money here. */
export const prorate = (full: Decimal, share: Fraction): Decimal => timesFraction(full, share)

/**
 * How many `pricing` periods make one `billing` period: 150 a month on a quarter is 3, 1200 a year on a quarter 1/4.
 * Within months and years, and within days and weeks, it is the ratio of the lengths. Across the two families it goes
 * by the days of the actual periods: 10 a week on a month of 31 days is 31/7. For 300 a month on a week, each day owes
 * its part of the month that contains it, so a year of weeks owes what its days owe by month. `full` is the full
 * billing period.
 */
export function pricingScale(pricing: PeriodLength, billing: PeriodLength, full: Interval, grid: PeriodGrid): Fraction {
  const price = stepOf(pricing)
  const bill = stepOf(billing)
  if (price.unit === bill.unit) return fraction(bill.size, price.size)
  if (price.unit === 'days') return fraction(localDays(full, grid.zone), price.size)
  let scale = NOTHING
  for (const period of billingPeriods({ ...grid, length: pricing }, full))
    scale = addFractions(scale, periodShare(period))
  return scale
}
