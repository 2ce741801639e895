// Until when the invoices of subscriptions stay OPEN. Pure.
import { at, type Instant } from '../../../../shared/time.ts'
import { openUntil } from '../../invoices/changes/grace.ts'
import type { PeriodColumns } from '../pricing/period-columns.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import type { InvoiceWindow } from '../terms/windows.ts'

/** The end of what an invoice collects. */
export const endingOf = ({ cutoff_at, advance_only }: Pick<PeriodColumns, 'cutoff_at' | 'advance_only'>) => ({
  cutoffAt: at(cutoff_at),
  collects: !advance_only,
})

/** Until when the invoice of a window stays OPEN. */
export const openUntilOf = (
  { platform }: Pick<BillingInputs, 'platform'>,
  { cutoffAt, arrears }: InvoiceWindow,
): Instant => openUntil(platform, { cutoffAt, collects: arrears !== null })
