// When an auto top-up that failed is tried again. Pure.
import { formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'

const FIRST_MS = 15 * 60_000
const LONGEST_MS = 24 * 3_600_000

/** After the first failure 15 minutes, twice as long after each further one, and at most a day. */
export const nextAttemptAt = (failedAttempts: number, now: Instant): string =>
  formatInstant(instantOf(now + Math.min(FIRST_MS * 2 ** Math.min(failedAttempts - 1, 20), LONGEST_MS)))
