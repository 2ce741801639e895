// What one aggregator says of how far usage_records_by_meter is filled. Said before records are stored that lists would miss, and after
// records are copied.
import type { Clock } from '../../shared/time.ts'
import { ALL_COPIED } from '../../shared/usage/meter-records.ts'
import type { UsageSink } from '../sinks/usage-sink.ts'
import type { Arrivals, Received } from './received.ts'
import { createRecentMeters } from './recent-meters.ts'
import type { Progress } from './statements.ts'

export type ProgressSink = Pick<UsageSink, 'insertProgress'>
export type Publisher = {
  /** Says how far it is now. Throws what the sink throws. */
  publish(sink: ProgressSink): Promise<void>
  /** As publish, where lists would read less then although nothing was copied: of meters that have had no records for a while. */
  publishFewer(sink: ProgressSink): Promise<void>
  /** Resolves when lists read these records. */
  announce(sink: ProgressSink, arrivals: Arrivals): Promise<void>
}

/**
 * Of meters that are named, lists read what was received in this time from usage_records_by_time, also when it is copied: new records need no
 * announcement.
 */
const RECENT_MS = 30_000
/** What was said longer ago is said again before anything is stored: others may have taken its owner for gone. */
const FRESH_MS = 5 * 60_000

/** Has said nothing yet. */
export function createPublisher(owner: string, clock: Clock, received: Pick<Received, 'uncopied'>): Publisher {
  /** What holds in ClickHouse; null when that is not known. */
  let said: Progress | null = null
  let saidOf: ReadonlySet<string> = new Set()
  let version = 0
  let last: Promise<unknown> = Promise.resolve()
  const recent = createRecentMeters(clock)

  /** One after the other: what is said next is worked out when it is known what holds. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = last.then(work, work)
    last = done.catch(() => undefined)
    return done
  }

  /** The meters whose records may be missing now, or may come without an announcement. Null when there are too many to name. */
  function openMeters(): ReadonlySet<string> | null {
    const uncopied = received.uncopied()
    if (uncopied === null) return recent.with(new Set())
    return uncopied.meters === null ? null : recent.with(uncopied.meters)
  }

  async function sayNow(sink: ProgressSink): Promise<void> {
    const now = clock.now()
    const meters = openMeters()
    const earliest = received.uncopied()?.earliest ?? Number.POSITIVE_INFINITY
    // Of two that arrive in another order the later one holds, also where this clock went back.
    version = Math.max(version + 1, now)
    const completeBefore = meters?.size === 0 ? ALL_COPIED : Math.max(0, Math.min(now - RECENT_MS, earliest * 1000))
    const next = { owner, completeBefore, publishedAt: now, version, meters: [...(meters ?? [])] }
    // Where the sink fails it may have arrived all the same.
    said = null
    await sink.insertProgress([next])
    said = next
    saidOf = new Set(next.meters)
  }

  const holds = ({ seconds, meters }: Arrivals): boolean => {
    if (said === null) return false
    const { completeBefore, publishedAt } = said
    const age = clock.now() - publishedAt
    if (age > FRESH_MS || age < 0) return false
    // Where none is named it holds of any.
    if (saidOf.size > 0) for (const meter of meters) if (!saidOf.has(meter)) return false
    for (const second of seconds) if (second * 1000 < completeBefore) return false
    return true
  }

  const isFewer = (): boolean => {
    if (said === null || said.completeBefore === ALL_COPIED) return false
    const open = openMeters()
    return open !== null && (saidOf.size === 0 || open.size < saidOf.size)
  }

  return {
    publish: sink => inTurn(() => sayNow(sink)),
    publishFewer: sink => inTurn(async () => (isFewer() ? await sayNow(sink) : undefined)),
    announce: (sink, arrivals) => {
      recent.note(arrivals.meters)
      return inTurn(async () => (holds(arrivals) ? undefined : await sayNow(sink)))
    },
  }
}
