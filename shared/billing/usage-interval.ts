// Which time a calculation is taken over.
import { type Instant, type Interval, interval } from '../time.ts'

/**
 * The time whose events make up the usage of a period: the period itself, or with `persist` everything from the schedule's
 * start to the period's end. The state is then carried on from period to period, inside one schedule only (semantics 1.1).
 * A period before the schedule's start is refused with RangeError.
 */
export function usageInterval(persist: boolean, scheduleStart: Instant, period: Interval): Interval {
  if (period.start < scheduleStart) throw new RangeError('the period starts before its schedule')
  return persist ? interval(scheduleStart, period.end) : period
}
