// When the versions of a rate card price a schedule, for the slow model (semantics 3.1).
import { dayOf, startOfDay } from '../calendar.ts'
import type { Phase } from '../known.ts'
import type { Price, Story } from '../story.ts'

type Time = Pick<Phase, 'start' | 'end'>

/** The time in which a version is in force, from the start of the local day on; null where a later one is from that day on. */
export function versionTime(
  { plan, start, end }: Phase,
  { version = 0, kind, addon }: Price,
  { zone }: Story,
): Time | null {
  // One that comes into force after the end of the schedule, on the same day, is not of it.
  const startIn = (moment: number): number =>
    end !== null && end <= moment ? Number.POSITIVE_INFINITY : startOfDay(dayOf(moment, zone), zone)
  const starts = [Number.NEGATIVE_INFINITY, ...(plan.card ?? []).map(each => startIn(each.start))]
  const time = { start: starts[version] ?? Number.POSITIVE_INFINITY, end: starts[version + 1] ?? null }
  if (time.end !== null && time.end <= time.start) return null
  // What is sold once is charged by the version at the start of the schedule.
  const isLater = start < time.start || (time.end !== null && time.end <= start)
  return kind === 'ONCE' && !addon && isLater ? null : time
}

/** When a later version takes over from that of a price, within the schedule; null where none does. */
export function takenOverAt(phase: Phase, price: Price, story: Story): number | null {
  const end = versionTime(phase, price, story)?.end ?? null
  return end !== null && phase.start < end && (phase.end === null || end < phase.end) ? end : null
}

/** A time within another. */
export const during = (time: Time, within: Time): Time => ({
  start: Math.max(time.start, within.start),
  end: earliest(time.end, within.end),
})

/** Null is never. */
export const earliest = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b)
