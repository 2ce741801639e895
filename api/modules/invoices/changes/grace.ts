// How long a DRAFT waits before it becomes FINAL by itself (semantics 5.1).
import { type Instant, instantOf } from '../../../../shared/time.ts'
import { type Grace, graceOf } from '../../parties/platforms/invoice-settings.ts'
import type { InvoicingSettings } from '../document/parties.ts'

const HOUR_MS = 3_600_000
const GRACE_MS: Readonly<Record<Grace['type'], number>> = { HOUR: HOUR_MS, DAY: 24 * HOUR_MS }

/** When a DRAFT becomes FINAL: the grace period after `from`. */
export function graceEnd({ invoice_settings }: Pick<InvoicingSettings, 'invoice_settings'>, from: Instant): Instant {
  const { value, type } = graceOf(invoice_settings)
  return instantOf(from + value * GRACE_MS[type])
}
