// What an invoice is priced from, beside the inputs of its subscription.
import type { WalletBalance } from '../../../../shared/billing/steps/clauses.ts'
import type { CreditPart } from '../../../../shared/billing/wallets/credits.ts'
import type { Instant } from '../../../../shared/time.ts'
import type { AddedLine } from '../../invoices/added-lines/price-added-line.ts'
import type { PrepaidBalance } from '../../invoices/document/pay-from-balances.ts'
import type { Charge } from '../charges/charge.ts'
import type { LateCharge } from '../late/late-usage.ts'
import type { Refund } from '../refunds/refunds.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import type { InvoiceWindow } from '../terms/windows.ts'
import type { CustomerFigures, UsageFigures } from '../usage/usage-needs.ts'
import type { Deducted } from './deducted.ts'
import type { PastRules } from './past-rules.ts'

/** The window of an invoice, and what was used, bought, refunded and can pay in it. */
export type InvoiceRequest = {
  readonly terms: readonly PriceTerm[]
  readonly window: InvoiceWindow
  /** Keys of advance charges that other invoices of the subscription bill, and of minimums that they reach ahead. */
  readonly billed: ReadonlySet<string>
  /** What discounts of an amount took off on other invoices; absent where none did. */
  readonly deducted?: readonly Deducted[]
  readonly usage: UsageFigures
  /** The same by customer, when usage lines show each customer's part. */
  readonly usageByCustomer?: CustomerFigures | null
  /** Time of closed invoices with usage that they did not count. */
  readonly late?: readonly LateCharge[]
  /** The refunds on this invoice of what earlier invoices charged ahead. */
  readonly refunds?: readonly Refund[]
  /** The wallets that can pay it before tax. */
  readonly wallets?: readonly WalletBalance[]
  /** What is left of the grants of credits that usage on it may draw from, in spending order. */
  readonly credits?: readonly CreditPart[]
  /** The wallets that can pay it after tax. */
  readonly balances?: readonly PrepaidBalance[]
  /** Lines that users added. */
  readonly added?: readonly AddedLine[]
  /** What is bought on demand: the invoice charges this instead of its period. */
  readonly bought?: readonly Charge[]
  /** Whether usage that no exchange rate converts is left out and keeps it DRAFT; it is refused otherwise. */
  readonly mayLackRates?: true
  /** Of a correction: the rules by which its original was priced; absent for those of now. */
  readonly rules?: PastRules
  /** Null until the invoice becomes FINAL. */
  readonly finalizedAt: Instant | null
}
