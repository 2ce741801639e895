// An invoice that may be issued together with others.
import type { PendingInvoice } from '../../../invoices/changes/pending-invoice.ts'
import type { InvoiceRequest } from '../../pricing/invoice-request.ts'
import type { BillingInputs } from '../../terms/billing-inputs.ts'

/** An invoice that becomes FINAL in this run, of a subscription that combines. */
export type Issue = {
  readonly inputs: BillingInputs
  readonly request: InvoiceRequest
  /** It as a DRAFT, and as FINAL. */
  readonly draft: PendingInvoice
  readonly final: PendingInvoice
}
