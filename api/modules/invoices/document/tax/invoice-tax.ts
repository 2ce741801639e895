// Decides the tax of an invoice from its parties, also when an address is incomplete.
import { type Fraction, fraction, WHOLE } from '../../../../../shared/billing/fraction.ts'
import type { LocalDate } from '../../../../../shared/billing/local-days.ts'
import { decideTax, type TaxDecided, type TaxInputs, type TaxSeller } from '../../../../../shared/billing/tax/tax.ts'
import { decisionOfAnswer, type OpenQuestion } from '../../../../../shared/billing/tax/tax-engine.ts'
import { decimal } from '../../../../../shared/decimal.ts'
import type { BillingType } from '../../table.ts'
import type { DraftInvoice, Finding } from '../draft-invoice.ts'
import type { BillingEntityInput, Parties } from '../parties.ts'
import { engineQuestionKey, engineQuestionOf, usesEngine } from './engine-question.ts'
import { bestTaxId, taxIdFindings } from './tax-id-findings.ts'
import { named, sidesOf, type TaxSide } from './tax-sides.ts'

export type InvoiceTax = {
  readonly decision: TaxDecided
  readonly findings: readonly Finding[]
  /** What the tax engine has not answered for good; absent where nothing is open. */
  readonly open?: OpenQuestion
  /** Of the question to the tax engine; absent where none is asked. */
  readonly key?: string
}

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
 * not escape tax; a seller without a country charges no tax. A billing entity may have a tax engine decide instead.
 */
export function invoiceTax(draft: Taxed, on: LocalDate): InvoiceTax {
  const { parties, salesTaxPercentage, billingType = 'DEFAULT' } = draft
  const { seller, buyer } = sidesOf(parties, billingType)
  const none = (message: string): InvoiceTax => ({ decision: UNTAXED, findings: [warning(message)] })
  const { country } = seller
  if (country === null) return none(`${seller.says} has no country, so no tax is charged.`)
  if (usesEngine(parties.billing_entity)) return taxOfEngine(draft, { on, country, seller, buyer })
  const decision = decideTax(taxInputsOf(parties, { seller, country, buyer, on, salesTaxPercentage, billingType }))
  if (buyer.country === null) {
    const details = `${buyer.says} has no country; tax is charged as in the country of ${named(seller)}.`
    return decision.kind === 'DECIDED'
      ? { decision, findings: [warning(details)] }
      : none(`${buyer.says} has no country, so no tax is charged. ${decision.message}`)
  }
  if (decision.kind === 'DECIDED') return { decision, findings: taxIdFindings({ seller, buyer }, decision) }
  return { decision: UNTAXED, findings: [{ status: 'ERROR', details: `${decision.message} (${decision.field})` }] }
}

type Taxed = Pick<DraftInvoice, 'parties' | 'salesTaxPercentage' | 'billingType'> & {
  /** Absent where only the decision is wanted. */
  readonly lines?: readonly Pick<DraftInvoice['lines'][number], 'taxCategory' | 'tax'>[]
}

/** The tax by the kept answers. No tax is guessed: an invoice whose question has no answer has an ERROR, and stays as it is. */
function taxOfEngine(
  { parties, salesTaxPercentage, billingType = 'DEFAULT', lines }: Taxed,
  { on, country, seller, buyer }: Pick<TaxFacts, 'on' | 'country' | 'seller' | 'buyer'>,
): InvoiceTax {
  if (lines && !lines.some(line => line.taxCategory === 'STANDARD' && !line.tax))
    return { decision: UNTAXED, findings: [] }
  const findings = [
    ...(buyer.country === null
      ? [warning(`${buyer.says} has no country; the tax engine is asked as if it were in ${country}.`)]
      : []),
    ...(salesTaxPercentage === null
      ? []
      : [warning('The tax engine decides the tax; sales_tax_percentage is not used.')]),
  ]
  const question = engineQuestionOf({ parties, on, billingType, country })
  const key = engineQuestionKey(question)
  const kept = parties.tax_answers?.find(each => each.key === key)
  if (!kept?.answer) {
    const reason = kept?.fault ?? 'It is asked in the background; the answer is here within a minute or two.'
    const details = parties.tax_answers
      ? `The tax engine has not said what tax applies on ${on}. ${reason}`
      : 'These amounts are without tax: a tax engine decides it, and is not asked about a customer that is imagined.'
    return {
      decision: UNTAXED,
      findings: [...findings, { status: 'ERROR', details }],
      open: { key, question, as_of: null },
      key,
    }
  }
  const { as_of, fault } = kept
  const decision = decisionOfAnswer(kept.answer, question, parties.customer.organization?.tax_exempt_note ?? null)
  return {
    decision,
    key,
    findings: [...findings, ...taxIdFindings({ seller, buyer }, decision)],
    ...(as_of !== null && as_of >= on ? {} : { open: { key, question, as_of, ...(fault === null ? {} : { fault }) } }),
  }
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

function taxInputsOf(
  { customer, billing_entity, tax_rates }: Parties,
  { seller, country, buyer, on, salesTaxPercentage, billingType }: TaxFacts,
): TaxInputs {
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
