// When the events that gathered are sent: at once while few come. While many do, a little later, so that a message carries
// more of them: a message costs the broker one sync of its disk, whatever is in it, and everybody waits for that.

import type { Later } from '../later.ts'

/** A pause between two flushes while many events come. Costs them less than the sync they share saves. */
const GATHER_MS = 5
/** Events of the last flush from which on there are many. */
const MANY = 16
/** Events waiting that are not kept waiting for more. */
const ENOUGH = 200

export type FlushTimes = {
  /** Something waits that could be sent. */
  wanted(): void
}

export type FlushTimesOptions = {
  /** Runs `task` soon, after the requests that are already waiting were read. */
  readonly defer: (task: () => void) => void
  readonly later: Later
  readonly nowMs: () => number
  /** Events that wait. */
  readonly waiting: () => number
  /** Sends what can be sent. Returns how many events that were. */
  readonly flush: () => number
}

export function createFlushTimes({ defer, later, nowMs, waiting, flush }: FlushTimesOptions): FlushTimes {
  let state: 'idle' | 'deferred' | 'gathering' = 'idle'
  let cancel = (): void => undefined
  let lastAtMs = Number.NEGATIVE_INFINITY
  let lastEvents = 0

  const run = (): void => {
    state = 'idle'
    lastAtMs = nowMs()
    lastEvents = flush()
  }
  const runOrGather = (): void => {
    const restMs = lastAtMs + GATHER_MS - nowMs()
    if (lastEvents < MANY || waiting() >= ENOUGH || restMs <= 0) {
      run()
      return
    }
    state = 'gathering'
    cancel = later(run, restMs)
  }
  return {
    wanted: () => {
      if (state === 'idle') {
        state = 'deferred'
        defer(runOrGather)
      } else if (state === 'gathering' && waiting() >= ENOUGH) {
        cancel()
        state = 'deferred'
        defer(run)
      }
    },
  }
}
