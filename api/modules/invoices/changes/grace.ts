// How long an invoice stays OPEN after its period, and how long a DRAFT waits before it becomes FINAL by itself (semantics 5.1).
import { type Instant, instantOf } from '../../../../shared/time.ts'
import { type Grace, graceOf } from '../../parties/platforms/invoice-settings.ts'
import type { InvoicingSettings } from '../document/parties.ts'

const HOUR_MS = 3_600_000
const GRACE_MS: Readonly<Record<Grace['type'], number>> = { HOUR: HOUR_MS, DAY: 24 * HOUR_MS }

type Ending = {
  readonly cutoffAt: Instant
  /** Whether it collects a period, rather than charging ahead alone. */
  readonly collects: boolean
}

/** Until when an invoice stays OPEN: an extra open period lets it collect after the end of its period, in the time of that period. */
export function openUntil(
  { invoice_settings }: Pick<InvoicingSettings, 'invoice_settings'>,
  { cutoffAt, collects }: Ending,
): Instant {
  const extra = invoice_settings.invoice_extra_open_period
  return collects && extra ? instantOf(cutoffAt + extra.value * GRACE_MS[extra.type]) : cutoffAt
}

/** When a DRAFT becomes FINAL: the grace period after `from`. */
export function graceEnd({ invoice_settings }: Pick<InvoicingSettings, 'invoice_settings'>, from: Instant): Instant {
  const { value, type } = graceOf(invoice_settings)
  return instantOf(from + value * GRACE_MS[type])
}
