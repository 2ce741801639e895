// Questions to a database that is starting, or being started again, beside this process.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../process/logger.ts'
import { isUnavailable } from './driver-errors.ts'

const PATIENCE_MS = 30_000
const PAUSE_MS = 500

/**
 * Asks again while the server is away or still starting; throws what it failed with last after half a minute, and every other
 * error at once. `ask` must be safe to repeat.
 */
export async function untilDatabaseAnswers<T>(
  ask: () => Promise<T>,
  logger: Logger,
  patienceMs: number = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + patienceMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await ask()
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > deadline) throw error
      if (isFirst) logger.warn({ err: error }, 'PostgreSQL does not answer yet; trying again')
      await sleep(PAUSE_MS)
    }
  }
}
