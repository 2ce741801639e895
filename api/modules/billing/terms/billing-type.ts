// In whose name a subscription is invoiced.
import type { BillingType } from '../../invoices/table.ts'
import type { BillingInputs } from './billing-inputs.ts'

/** SELF_BILLING: the billing entity buys, and issues the invoice in the name of the customer, who sells (contract: Subscription). */
export const billingTypeOf = ({ subscription }: Pick<BillingInputs, 'subscription'>): BillingType =>
  subscription.variant === 'SELF_BILLING' ? 'SELF_BILLING' : 'DEFAULT'
