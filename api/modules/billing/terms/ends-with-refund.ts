// When schedules end so that what was charged ahead of that is refunded (semantics 4.1, 4.4). Pure.
import { at, type Instant } from '../../../../shared/time.ts'
import type { BillingInputs, ScheduleInput } from './billing-inputs.ts'
import { activeEnd } from './windows.ts'

type Ending = Pick<BillingInputs, 'schedules' | 'subscription'>

/** For each schedule that ends with refunds, when that is. */
export function endTimes({ schedules, subscription }: Ending): ReadonlyMap<string, Instant> {
  const cancelled = subscription.inactive_periods.find(period => period.refund_advance_charges === true)
  const until = cancelled ? at(cancelled.start_at) : null
  return new Map(
    schedules.flatMap((schedule): [string, Instant][] => {
      const end = ownEnd(schedule)
      // A schedule that ended before the cancellation keeps the terms it ended with.
      if (until !== null && (schedule.end_at === null || until < at(schedule.end_at))) return [[schedule.id, until]]
      return end === null ? [] : [[schedule.id, end]]
    }),
  )
}

/** When the subscription ends, and the schedules that end there with a refund; null where there are none. */
export function endWithRefund(of: Ending): { readonly end: Instant; readonly scheduleIds: readonly string[] } | null {
  const end = activeEnd(of)
  const scheduleIds = [...endTimes(of)].flatMap(([id, time]) => (time === end ? [id] : []))
  return end === null || scheduleIds.length === 0 ? null : { end, scheduleIds }
}

const ownEnd = ({ end_at, refund_advance_charges }: ScheduleInput): Instant | null =>
  refund_advance_charges === true && end_at !== null ? at(end_at) : null
