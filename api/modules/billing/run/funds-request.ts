// What an invoice needs of the wallets of its customer.
import type { FundsRequest } from '../../invoices/settlement/funds.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { billingTypeOf } from '../terms/billing-type.ts'
import { type InvoiceWindow, periodOf } from '../terms/windows.ts'

/** What an invoice for a window needs of wallets. */
export const fundsRequest = (
  inputs: BillingInputs,
  { window, invoiceId }: { readonly window: InvoiceWindow; readonly invoiceId: string | null },
): FundsRequest => ({
  customerId: inputs.customer.id,
  currency: inputs.subscription.billing_currency,
  invoiceId,
  service: periodOf(window),
  billingType: billingTypeOf(inputs),
})
