// The meters that lately had records: their next ones need no announcement (progress.ts).
import type { Clock } from '../../shared/time.ts'

export type RecentMeters = {
  note(meters: ReadonlySet<string>): void
  /** Those that had records lately, with these; null where they are more than can be named. */
  with(meters: ReadonlySet<string>): ReadonlySet<string> | null
}

/** A meter that had no record for so long is announced anew. Until then its lists also read what is not copied. */
const RECENT_MS = 5 * 60_000
/**
 * With more, any meter may have records. So within RECENT_MS no more announcements than this are made for meters, and what is said stays
 * short: lists read it.
 */
export const METERS_MAX = 100

/** None yet. */
export function createRecentMeters(clock: Clock): RecentMeters {
  /** When each had records last; those that had some last are at the end. */
  const notedAt = new Map<string, number>()
  function forget(): void {
    for (const [meter, at] of notedAt) {
      // Of more than that many the newest say enough: there are too many as long as those are recent.
      if (notedAt.size <= METERS_MAX + 1 && Math.abs(clock.now() - at) < RECENT_MS) return
      notedAt.delete(meter)
    }
  }
  return {
    note(meters) {
      const now = clock.now()
      for (const meter of meters) {
        notedAt.delete(meter)
        notedAt.set(meter, now)
      }
      forget()
    },
    with(meters) {
      forget()
      const all = new Set([...notedAt.keys(), ...meters])
      return all.size > METERS_MAX ? null : all
    },
  }
}
