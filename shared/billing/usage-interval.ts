// Which time a calculation is taken over.
import { type Instant, type Interval, instantOf, interval } from '../time.ts'
import type { PersistedUsage } from './persisted-usage.ts'

/**
 * The time whose events make up the usage of a period: the period itself, or with `persist` everything from the schedule's
 * start to the period's end. The state is then carried on from period to period, inside one schedule only (semantics 1.1).
 * Where states were told inside the schedule, it starts at the last one before the period's end, and is on top of that state.
 * A period before the schedule's start is refused with RangeError.
 */
export function usageInterval(
  persist: boolean,
  scheduleStart: Instant,
  period: Interval,
  told: readonly Pick<PersistedUsage, 'at'>[] = [],
): Interval {
  if (period.start < scheduleStart) throw new RangeError('the period starts before its schedule')
  if (!persist) return period
  const starts = told.map(({ at }) => at).filter(at => at < period.end)
  return interval(instantOf(Math.max(scheduleStart, ...starts)), period.end)
}
