// Questions to a server that is starting, or being started again, beside this process.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from './logger.ts'

const PATIENCE_MS = 30_000
const PAUSE_MS = 500

export type AwaitedServer = {
  /** For the log. */
  readonly server: 'PostgreSQL' | 'NATS' | 'ClickHouse'
  /** Whether an error says that the server is away or still starting. */
  readonly isAway: (error: unknown) => boolean
  readonly logger: Logger
  readonly patienceMs?: number
  /** Ends the wait. A question that is open then is still waited for. */
  readonly stop?: AbortSignal | undefined
}

/**
 * Asks again while the server is away or still starting; throws what it failed with last after half a minute, and every other
 * error at once. Throws the reason of `stop` when that ends the wait. `ask` must be safe to repeat.
 */
export async function untilAnswers<T>(ask: () => Promise<T>, waited: AwaitedServer): Promise<T> {
  const { server, isAway, logger, patienceMs = PATIENCE_MS, stop } = waited
  const deadline = performance.now() + patienceMs
  for (let isFirst = true; ; isFirst = false) {
    stop?.throwIfAborted()
    try {
      return await ask()
    } catch (error) {
      if (!isAway(error) || performance.now() > deadline) throw error
      if (isFirst) logger.warn({ err: error }, `${server} does not answer yet; trying again`)
      await sleep(PAUSE_MS, undefined, stop ? { signal: stop } : {}).catch(() => undefined)
    }
  }
}
