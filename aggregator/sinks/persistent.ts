// A sink that does not take no for an answer: each statement is tried until ClickHouse has taken it. Statement by statement,
// because a round is several: of a ClickHouse that refuses half of them, few whole rounds would ever pass.
import type { UsageSink } from './usage-sink.ts'

export type RetryPolicy = {
  /** Whether there is no more use in trying. */
  readonly givenUp: () => boolean
  /** Waits before the next try. */
  readonly pause: (error: unknown, delayMs: number) => Promise<void>
}

/** It was not stored, and trying was given up. */
export class RetriesExhaustedError extends Error {}

const RETRY_FIRST_MS = 100
const RETRY_MAX_MS = 5_000

/** The same sink, except that it only fails with RetriesExhaustedError. A statement whose answer was lost is given again. */
export function persistent(sink: UsageSink, patience: RetryPolicy): UsageSink {
  async function insist<T>(statement: () => Promise<T>): Promise<T> {
    for (let delayMs = RETRY_FIRST_MS; ; delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)) {
      try {
        return await statement()
      } catch (error) {
        if (!patience.givenUp()) await patience.pause(error, delayMs)
        if (patience.givenUp()) throw new RetriesExhaustedError('usage was not stored', { cause: error })
      }
    }
  }
  return {
    insertEvents: lines => insist(() => sink.insertEvents(lines)),
    insertDuplicates: lines => insist(() => sink.insertDuplicates(lines)),
    insertDeadLetters: lines => insist(() => sink.insertDeadLetters(lines)),
    deleteEvents: deletions => insist(() => sink.deleteEvents(deletions)),
    findEvents: names => insist(() => sink.findEvents(names)),
    insertAmendments: lines => insist(() => sink.insertAmendments(lines)),
    insertMarks: marks => insist(() => sink.insertMarks(marks)),
    insertPositions: positions => insist(() => sink.insertPositions(positions)),
    copyChanged: names => insist(() => sink.copyChanged(names)),
    insertProgress: progress => insist(() => sink.insertProgress(progress)),
  }
}
