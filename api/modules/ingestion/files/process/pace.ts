// Spreads the events of a file over time, so that it leaves room for what the platform sends itself.
import { setTimeout as sleep } from 'node:timers/promises'

export type Pace = {
  /** Resolves when `events` more may be sent. Rejects when the signal is given. */
  take(events: number, signal: AbortSignal): Promise<void>
}

/** At most `perSecond` events a second on average; the first go at once. */
export function createPace(perSecond: number): Pace {
  let next = performance.now()
  return {
    take: async (events, signal) => {
      const at = Math.max(next, performance.now())
      next = at + (events * 1_000) / perSecond
      const waitMs = at - performance.now()
      if (waitMs > 1) await sleep(waitMs, undefined, { signal })
    },
  }
}
