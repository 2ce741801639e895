// Decides the tax of an invoice from its parties, also when an address is incomplete.

import { type Fraction, fraction, WHOLE } from '../../../../shared/billing/fraction.ts'
import type { LocalDate } from '../../../../shared/billing/periods.ts'
import type { TaxDecided, TaxQuestion, TaxSeller } from '../../../../shared/billing/tax.ts'
import { BUILT_IN_TAX, type TaxProvider } from '../../../../shared/billing/tax-provider.ts'
import { decimal } from '../../../../shared/decimal.ts'
import type { BillingType } from '../table.ts'
import type { DraftInvoice, Finding } from './draft-invoice.ts'
import type { BillingEntityInput, Parties } from './parties.ts'
import { bestTaxId, taxIdFindings } from './tax-id-findings.ts'
import { named, sidesOf, type TaxSide } from './tax-sides.ts'

export type InvoiceTax = { readonly decision: TaxDecided; readonly findings: readonly Finding[] }

const UNTAXED: TaxDecided = {
  kind: 'DECIDED',
  treatment: 'NOT_COVERED',
  rates: [],
  sources: [],
  taxableShare: WHOLE,
  notes: [],
  invoiceNotes: [],
  usedRegistration: null,
}

/**
 * Decides the tax of an invoice dated `on`. Missing data becomes a finding. An ERROR keeps the invoice from becoming
 * FINAL (the rule needs a figure that was not given); a WARNING does not (an address is incomplete, a tax id is
 * unchecked). A buyer without a country is taxed like one in the seller's country, because an unproven export must
 * not escape tax; a seller without a country charges no tax.
 */
export function invoiceTax(
  {
    parties,
    salesTaxPercentage,
    billingType = 'DEFAULT',
  }: Pick<DraftInvoice, 'parties' | 'salesTaxPercentage' | 'billingType'>,
  on: LocalDate,
  provider: TaxProvider = BUILT_IN_TAX,
): InvoiceTax {
  const { seller, buyer } = sidesOf(parties, billingType)
  const none = (message: string): InvoiceTax => ({ decision: UNTAXED, findings: [warning(message)] })
  const { country } = seller
  if (country === null) return none(`${seller.says} has no country, so no tax is charged.`)
  const decision = provider.decide(questionOf(parties, { seller, country, buyer, on, salesTaxPercentage, billingType }))
  if (buyer.country === null) {
    const details = `${buyer.says} has no country; tax is charged as in the country of ${named(seller)}.`
    return decision.kind === 'DECIDED'
      ? { decision, findings: [warning(details)] }
      : none(`${buyer.says} has no country, so no tax is charged. ${decision.message}`)
  }
  if (decision.kind === 'DECIDED') return { decision, findings: taxIdFindings({ seller, buyer }, decision) }
  return { decision: UNTAXED, findings: [{ status: 'ERROR', details: `${decision.message} (${decision.field})` }] }
}

const warning = (details: string): Finding => ({ status: 'WARNING', details })

type TaxFacts = {
  readonly seller: TaxSide
  readonly country: string
  readonly buyer: TaxSide
  readonly on: LocalDate
  readonly salesTaxPercentage: string | null
  readonly billingType: BillingType
}

function questionOf(
  { customer, billing_entity, tax_rates }: Parties,
  { seller, country, buyer, on, salesTaxPercentage, billingType }: TaxFacts,
): TaxQuestion {
  const organization = customer.type === 'ORGANIZATION' ? customer.organization : null
  return {
    seller: seller.isCustomer ? supplierOf(seller, country) : sellerOf(billing_entity, country),
    buyer: {
      country: buyer.country ?? country,
      region: buyer.region,
      kind: buyer.isCustomer ? customer.type : 'ORGANIZATION',
      taxId: bestTaxId(buyer.company).status,
      // Also on a SELF_BILLING invoice: what is known is whether the customer is exempt.
      taxExempt: organization?.tax_exempt === true,
      taxExemptNote: organization?.tax_exempt_note ?? null,
    },
    on,
    billingType,
    salesTaxPercentage: salesTaxPercentage === null ? null : decimal(salesTaxPercentage),
    ...(tax_rates ? { platformRates: tax_rates } : {}),
    taxableShare: taxableShareOf(organization?.tax_exempt_percentage ?? null),
  }
}

/** The customer of a SELF_BILLING invoice, who supplies. */
const supplierOf = ({ company }: TaxSide, country: string): TaxSeller => ({
  country,
  registeredIn: [],
  taxIdTypes: (company?.tax_ids ?? []).map(({ type }) => type),
  applyLocalVatForMissingTaxId: false,
})

/** What is left to tax of STANDARD amounts after a partial exemption (contract: Tax and invoices). */
const taxableShareOf = (exempt: string | null): Fraction =>
  exempt === null ? WHOLE : fraction(HUNDRED.minus(decimal(exempt)), HUNDRED)

const HUNDRED = decimal('100')

/**
 * A seller collects the taxes it has an id for, even when the check of the id failed: a typing error does not change
 * what is owed.
 */
function sellerOf(entity: BillingEntityInput, country: string): TaxSeller {
  const registrations = entity.tax_registrations ?? []
  return {
    country,
    registeredIn: registrations.flatMap(({ registered_address: address }) => address?.country ?? []),
    taxIdTypes: [entity, ...registrations].flatMap(({ tax_ids }) => (tax_ids ?? []).map(({ type }) => type)),
    applyLocalVatForMissingTaxId: entity.tax_settings?.apply_local_vat_for_missing_tax_id === true,
  }
}
