// What one aggregator says of how far usage_records_by_meter is filled. Said before records are stored that lists would miss, and after
// records are copied.
import type { Clock } from '../../shared/time.ts'
import type { UsageSink } from '../sinks/usage-sink.ts'
import type { Received } from './received.ts'
import type { Progress } from './statements.ts'

export type ProgressSink = Pick<UsageSink, 'insertProgress'>
export type Publisher = {
  /** Says how far it is now. Throws what the sink throws. */
  publish(sink: ProgressSink): Promise<void>
  /** Resolves when lists read records that were received in these seconds. */
  announce(sink: ProgressSink, seconds: ReadonlySet<number>): Promise<void>
}

/** Lists read what was received in this time from usage_records_by_time, also when it is copied: new records need no announcement. */
const RECENT_MS = 30_000
/** What was said longer ago is said again before anything is stored: others may have taken its owner for gone. */
const FRESH_MS = 5 * 60_000

/** Has said nothing yet. */
export function createPublisher(owner: string, clock: Clock, received: Pick<Received, 'earliest'>): Publisher {
  /** What holds in ClickHouse; null when that is not known. */
  let said: Progress | null = null
  let version = 0
  let last: Promise<unknown> = Promise.resolve()

  /** One after the other: what is said next is worked out when it is known what holds. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = last.then(work, work)
    last = done.catch(() => undefined)
    return done
  }

  async function sayNow(sink: ProgressSink): Promise<void> {
    const now = clock.now()
    const earliest = received.earliest() ?? Number.POSITIVE_INFINITY
    // Of two that arrive in another order the later one holds, also where this clock went back.
    version = Math.max(version + 1, now)
    const completeBefore = Math.max(0, Math.min(now - RECENT_MS, earliest * 1000))
    const next = { owner, completeBefore, publishedAt: now, version }
    // Where the sink fails it may have arrived all the same.
    said = null
    await sink.insertProgress([next])
    said = next
  }

  const holds = (seconds: ReadonlySet<number>): boolean => {
    if (said === null) return false
    const { completeBefore, publishedAt } = said
    const age = clock.now() - publishedAt
    if (age > FRESH_MS || age < 0) return false
    for (const second of seconds) if (second * 1000 < completeBefore) return false
    return true
  }

  return {
    publish: sink => inTurn(() => sayNow(sink)),
    announce: (sink, seconds) => inTurn(async () => (holds(seconds) ? undefined : await sayNow(sink))),
  }
}
