// When a delivery is tried again, and when it is given up (contract: Events, Delivery of webhooks). Pure.
import { type Instant, instantOf } from '../../../../shared/time.ts'

const MINUTE_MS = 60_000

/** Waits of 2, 4, 8, … 512 minutes, and of 512 from then on. `failures` in a row, this one included; counted from its end. */
export const retryAt = (failures: number, failedAt: Instant): Instant =>
  instantOf(failedAt + Math.min(2 ** failures, 512) * MINUTE_MS)

/** With so many failures in a row the webhook is disabled. */
export const FAILURES_MAX = 20
/** With so many its administrators are warned: the webhook is disabled some 34 hours later. */
export const FAILURES_WARN = 16

/** An event that is older is no longer sent. */
export const HORIZON_MS = 7 * 24 * 60 * MINUTE_MS
