// Keeps a copy in memory fresh: one load at a time, caused by a notification, a miss or the poll.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../process/logger.ts'

export type Refresher = {
  /** Resolves after a load that started after this call; rejects with that load's error. Concurrent calls share loads. */
  refresh(): Promise<void>
  /** As refresh, for callers with nobody to tell: an error is logged. */
  poke(): void
  close(): Promise<void>
}

/**
 * Loads every `pollMs` and on demand, but leaves `gapMs` between two loads, so that misses cannot flood the source. `nowMs` and `wait`
 * measure that gap.
 */
export function createRefresher(options: {
  name: string
  load: () => Promise<void>
  pollMs: number
  gapMs: number
  logger: Logger
  nowMs?: () => number
  wait?: (ms: number) => Promise<unknown>
}): Refresher {
  const { nowMs = () => performance.now(), wait: pause = sleep } = options
  let last: Promise<void> = Promise.resolve()
  let endedAt = Number.NEGATIVE_INFINITY
  let queued: Promise<void> | null = null
  let isClosed = false

  const loadInTurn = async (): Promise<void> => {
    await last.catch(() => undefined) // its caller got the error
    const wait = endedAt + options.gapMs - nowMs()
    if (wait > 0) await pause(wait)
    if (isClosed) throw new Error(`${options.name} are followed no longer`)
    queued = null // from here on a caller needs a later load: this one may miss what it wants to see
    try {
      await options.load()
    } finally {
      endedAt = nowMs()
    }
  }
  const refresh = (): Promise<void> => {
    if (queued === null) {
      queued = loadInTurn()
      last = queued
    }
    return queued
  }
  const poke = (): void => {
    refresh().catch((error: unknown) => {
      if (!isClosed)
        options.logger.warn({ err: error }, `${options.name} could not be refreshed; the last copy stays in use`)
    })
  }
  const timer = setInterval(poke, options.pollMs)
  return {
    refresh,
    poke,
    close: async () => {
      isClosed = true
      clearInterval(timer)
      await last.catch(() => undefined) // its caller got the error; here only its end matters
    },
  }
}
