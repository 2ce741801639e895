// How a process is asked to stop, and how long it may take.
import type { Logger } from './logger.ts'

/**
 * How long a process may take to stop. Longer than a request may take, so that what was accepted is answered; shorter than those who
 * stop it wait before they kill it: `npm start` and the systemd units of docs/deploying.md.
 */
export const STOP_GRACE_MS = 27_000

/** What a process has of its surroundings here; `process` but in tests. */
type Surroundings = Pick<NodeJS.Process, 'on' | 'exit'>

/**
 * Resolves at the first SIGTERM or SIGINT. A process that has not ended by itself after STOP_GRACE_MS is ended then, with code 1: what
 * it waits for does not answer. Nothing that was acknowledged is lost by that. Further signals change nothing: npm passes on the one
 * that a terminal sends to all, and the second must not cut off what the first lets end.
 */
export function stopSignal(
  logger: Logger,
  { surroundings = process, graceMs = STOP_GRACE_MS }: { surroundings?: Surroundings; graceMs?: number } = {},
): Promise<void> {
  return new Promise(resolve => {
    let isStopping = false
    const stop = (): void => {
      if (isStopping) return
      isStopping = true
      const timer = setTimeout(() => {
        logger.warn({ graceMs }, 'the stop does not end by itself; the process ends now')
        surroundings.exit(1)
      }, graceMs)
      // A process that is done does not wait for it.
      timer.unref()
      resolve()
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) surroundings.on(signal, stop)
  })
}
