// How long a platform lets changes gather before the invoices they touch are computed again. Pure.
import type { ReprocessingSettings } from './schema.ts'

/** What a call requests starts at once unless the platform set a delay. */
const ASKED_DELAY_MS = 0
/** What a change sets off waits for the next changes, so that a thousand corrections make one run. */
const AUTOMATIC_DELAY_MS = 10_000
const UNIT_MS = { SECOND: 1_000, MINUTE: 60_000, HOUR: 3_600_000 } as const

/** Milliseconds from asking to starting. */
export function delayOf(settings: ReprocessingSettings, automatic: boolean): number {
  const delay = settings.default_delay
  if (!delay) return automatic ? AUTOMATIC_DELAY_MS : ASKED_DELAY_MS
  return delay.value * UNIT_MS[delay.type]
}
