// Between two attempts to save what was computed, when its inputs have changed meanwhile.
import { setTimeout as sleep } from 'node:timers/promises'

const FIRST_MS = 100

/**
 * Waits before an attempt, counted from 0, longer each time: five attempts take 0.75 s at least. Who changes many
 * subscriptions of a customer, such as a migration, is often done by then.
 */
export const waitBeforeAttempt = async (attempt: number): Promise<void> => {
  if (attempt > 0) await sleep(FIRST_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2))
}
