// Under which registrations the tax of an invoice is charged. Pure.
import type { TaxDecided } from '../../../../../shared/billing/tax/tax.ts'
import type { DraftInvoice } from '../draft-invoice.ts'
import { sidesOf } from './tax-sides.ts'

export type UsedRegistrations = {
  /** The country of the registration that the invoice names; null for that of the registered address. */
  readonly used: string | null
  /** Those of refunds beside it. */
  readonly others: readonly string[]
}

/**
 * A refund is of tax that was charged under the registration of then. An invoice with nothing else names that one. SELF_BILLING invoices
 * have the ids of the customer alone.
 */
export function usedRegistrations(
  { lines, parties, billingType = 'DEFAULT' }: Pick<DraftInvoice, 'lines' | 'parties' | 'billingType'>,
  { usedRegistration }: Pick<TaxDecided, 'usedRegistration'>,
): UsedRegistrations {
  const home = sidesOf(parties, billingType).seller.country
  const carried = new Set(lines.flatMap(({ tax }) => tax?.registeredIn ?? []))
  if (billingType === 'SELF_BILLING' || carried.size === 0) return { used: usedRegistration, others: [] }
  const isOfRefunds = lines.every(({ tax }) => tax)
  const [first = null] = carried
  const country = isOfRefunds ? first : (usedRegistration ?? home)
  return { used: country === home ? null : country, others: [...carried].filter(each => each !== country) }
}
