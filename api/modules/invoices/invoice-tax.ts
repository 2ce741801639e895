// The tax question of an invoice, asked from its parties, and what to do when an address leaves it open.

import { WHOLE } from '../../../shared/billing/fraction.ts'
import type { LocalDate } from '../../../shared/billing/periods.ts'
import { decideTax, type TaxDecided, type TaxQuestion, type TaxSeller } from '../../../shared/billing/tax.ts'
import { decimal } from '../../../shared/decimal.ts'
import type { AddressInput, BillingEntityInput, BillingInputs, CustomerInput } from './billing-inputs.ts'

export type TaxFinding = { readonly status: 'ERROR' | 'WARNING'; readonly details: string }
export type InvoiceTax = { readonly decision: TaxDecided; readonly findings: readonly TaxFinding[] }

const UNTAXED: TaxDecided = {
  kind: 'DECIDED',
  treatment: 'NOT_COVERED',
  rates: [],
  taxableShare: WHOLE,
  notes: [],
  invoiceNotes: [],
  usedRegistration: null,
}

/**
 * Decides the tax of an invoice dated `on`. What is missing is a finding: an ERROR keeps the invoice from going FINAL
 * (the rule asks for a figure nobody gave), a WARNING does not (an address is incomplete). A customer without a country
 * is taxed as one in the seller's country, since an unproven export must not escape tax; a seller without one charges none.
 */
export function invoiceTax(inputs: BillingInputs, on: LocalDate): InvoiceTax {
  const seller = inputs.billing_entity.registered_address?.country ?? null
  const buyer = addressOf(inputs.customer)?.country ?? null
  if (seller === null)
    return { decision: UNTAXED, findings: [warning('The billing entity has no country, so no tax is charged.')] }
  const decision = decideTax(questionOf(inputs, { seller, buyer: buyer ?? seller, on }))
  if (buyer === null) {
    const details = 'The customer has no country; tax is charged as in the country of the billing entity.'
    return decision.kind === 'DECIDED'
      ? { decision, findings: [warning(details)] }
      : {
          decision: UNTAXED,
          findings: [warning(`The customer has no country, so no tax is charged. ${decision.message}`)],
        }
  }
  if (decision.kind === 'DECIDED') return { decision, findings: [] }
  return { decision: UNTAXED, findings: [{ status: 'ERROR', details: `${decision.message} (${decision.field})` }] }
}

const warning = (details: string): TaxFinding => ({ status: 'WARNING', details })

function questionOf(
  inputs: BillingInputs,
  { seller, buyer, on }: { seller: string; buyer: string; on: LocalDate },
): TaxQuestion {
  const { customer, subscription } = inputs
  const organization = customer.type === 'ORGANIZATION' ? customer.organization : null
  return {
    seller: sellerOf(inputs.billing_entity, seller),
    buyer: {
      country: buyer,
      region: addressOf(customer)?.state ?? null,
      kind: customer.type,
      taxId: organization?.tax_id ? 'UNKNOWN' : 'MISSING', // nobody has checked the id yet; a given one counts
      taxExempt: organization?.tax_exempt === true,
      taxExemptNote: organization?.tax_exempt_note ?? null,
    },
    on,
    billingType: 'DEFAULT',
    salesTaxPercentage: subscription.sales_tax_percentage === null ? null : decimal(subscription.sales_tax_percentage),
  }
}

function sellerOf(entity: BillingEntityInput, country: string): TaxSeller {
  const registrations = (entity.tax_registrations ?? []).map(registration => registration.registered_address?.country)
  return {
    country,
    registeredIn: registrations.filter(code => typeof code === 'string'),
    taxIdTypes: [],
    applyLocalVatForMissingTaxId: entity.tax_settings?.apply_local_vat_for_missing_tax_id === true,
  }
}

/** The address that decides tax and stands on the document. */
export const addressOf = (customer: CustomerInput): AddressInput | null =>
  (customer.type === 'ORGANIZATION'
    ? customer.organization?.registered_address
    : customer.individual?.residential_address) ?? null
