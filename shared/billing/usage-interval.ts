// The time over which a calculation counts events.
import { type Instant, type Interval, instantOf, interval } from '../time.ts'
import type { PersistedUsage } from './persisted-usage.ts'

/**
 * The time whose events make up the usage of a period: the period itself, or with `persist` everything from the
 * schedule's start to the period's end. The state is then carried over from period to period, within one schedule only
 * (semantics 1.1). If states were persisted inside the schedule, the time starts at the last one before the period's
 * end, and its events are added to that state. Throws RangeError for a period that starts before its schedule.
 */
export function usageInterval(
  persist: boolean,
  scheduleStart: Instant,
  period: Interval,
  persisted: readonly Pick<PersistedUsage, 'at'>[] = [],
): Interval {
  if (period.start < scheduleStart) throw new RangeError('the period starts before its schedule')
  if (!persist) return period
  const starts = persisted.map(({ at }) => at).filter(at => at < period.end)
  return interval(instantOf(Math.max(scheduleStart, ...starts)), period.end)
}
