// What a billing run did for a subscription.
import type { Instant } from '../../../../shared/time.ts'
import type { InvoiceRow } from '../../invoices/table.ts'

export type BillingRun = {
  /** The invoices that the run processed, as it left them. */
  readonly invoices: readonly InvoiceRow[]
  /** When the next run is due; null when nothing more will be due. */
  readonly nextBillingAt: Instant | null
  /** Whether it could not finish: usage is still on its way, or an invoice that is due lacks something. */
  readonly isUnfinished: boolean
}

/**
 * The outcome for one subscription of a group. ALONE: it was locked, slow to read, kept changing, or failed together
 * with others, and is to be run by itself.
 */
export type Outcome =
  | { readonly kind: 'DONE'; readonly run: BillingRun }
  | { readonly kind: 'FAILED'; readonly error: unknown }
  | { readonly kind: 'ALONE'; readonly waitsFor?: WaitsFor }

/** What keeps a subscription waiting: another one that it is combined with, and why that cannot be billed. */
export type WaitsFor = { readonly subscriptionId: string; readonly error: unknown }
