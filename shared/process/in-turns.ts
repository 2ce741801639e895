// Long computations in a process that answers requests.
import type { PausingWork } from '../pausing-work.ts'

/** Others may wait so long, and for what is done between two pauses. */
const TURN_MS = 10

/** Resolves when whatever else waits in the process has had a turn. */
export const othersTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** The result of `work`. When it pauses after its turn is over, whatever else waits in the process gets one. */
export async function inTurns<T>(work: PausingWork<T>, now: () => number = () => performance.now()): Promise<T> {
  for (let end = now() + TURN_MS; ; ) {
    const { done, value } = work.next()
    if (done) return value
    if (now() < end) continue
    await othersTurn()
    end = now() + TURN_MS
  }
}
