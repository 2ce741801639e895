// Who supplies and who buys, for the tax of an invoice.
import type { HasTaxIds } from '../../../parties/tax-ids/with-checks.ts'
import type { BillingType } from '../../table.ts'
import { addressOf, type Parties } from '../parties.ts'

/** One side of an invoice for tax purposes. */
export type TaxSide = {
  readonly isCustomer: boolean
  /** How a finding about it starts. */
  readonly says: 'The customer' | 'The billing entity'
  readonly country: string | null
  readonly region: string | null
  /** Null for an individual. */
  readonly company: HasTaxIds | null
}

/** Of a SELF_BILLING invoice the customer supplies and the billing entity buys (contract: Subscription). */
export function sidesOf(
  { customer, billing_entity }: Pick<Parties, 'customer' | 'billing_entity'>,
  billingType: BillingType,
): { readonly seller: TaxSide; readonly buyer: TaxSide } {
  const address = addressOf(customer)
  const ofCustomer: TaxSide = {
    isCustomer: true,
    says: 'The customer',
    country: address?.country ?? null,
    region: address?.state ?? null,
    company: customer.type === 'ORGANIZATION' ? customer.organization : null,
  }
  const ofEntity: TaxSide = {
    isCustomer: false,
    says: 'The billing entity',
    country: billing_entity.registered_address?.country ?? null,
    region: billing_entity.registered_address?.state ?? null,
    company: billing_entity,
  }
  return billingType === 'SELF_BILLING'
    ? { seller: ofCustomer, buyer: ofEntity }
    : { seller: ofEntity, buyer: ofCustomer }
}

/** The side within a sentence. */
export const named = ({ says }: TaxSide): string => says.toLowerCase()
