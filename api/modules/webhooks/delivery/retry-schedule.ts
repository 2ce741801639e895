// When a delivery is retried, and when it is given up (contract: Events, Delivery of webhooks). Pure.
import { type Instant, instantOf } from '../../../../shared/time.ts'

const MINUTE_MS = 60_000

/**
 * Delays of 2, 4, 8, … 512 minutes, and 512 from then on. `failures` in a row, including this one; counted from the end
 * of the attempt.
 */
export const retryAt = (failures: number, failedAt: Instant): Instant =>
  instantOf(failedAt + Math.min(2 ** failures, 512) * MINUTE_MS)

/** After this many failures in a row the webhook is disabled. */
export const FAILURES_MAX = 20
/** After this many failures its administrators are warned: the webhook is disabled about 34 hours later. */
export const FAILURES_WARN = 16

/** An older event is no longer sent. */
export const HORIZON_MS = 7 * 24 * 60 * MINUTE_MS
