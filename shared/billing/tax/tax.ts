// Which tax an invoice carries: one decision for its STANDARD items, and the resulting tax of each tax category (5.5).
import { type Decimal, decimal, sum, ZERO } from '../../decimal.ts'
import { type Fraction, WHOLE } from '../fraction.ts'
import type { LocalDate } from '../local-days.ts'
import {
  canadianProvince,
  canadianRates,
  isEuMember,
  type PlatformTaxRate,
  type RateInForce,
  standardRate,
} from './tax-rates.ts'

export const TAX_CATEGORIES = ['STANDARD', 'NO_TAX', 'EXEMPT'] as const
export type TaxCategory = (typeof TAX_CATEGORIES)[number]

/** The supplier for tax purposes: the billing entity, or the customer on a self-billing invoice. */
export type TaxSeller = {
  /** ISO 3166 alpha-2 of the registered address. */
  readonly country: string
  /** Countries of further tax registrations. */
  readonly registeredIn: readonly string[]
  readonly taxIdTypes: readonly string[]
  readonly applyLocalVatForMissingTaxId: boolean
}

export type TaxBuyer = {
  readonly country: string
  /** State or province, as code or name; only used for Canada. */
  readonly region: string | null
  readonly kind: 'ORGANIZATION' | 'INDIVIDUAL'
  /** UNKNOWN: an id was given that could not be checked; it counts as valid. NOT_VALID counts as missing. */
  readonly taxId: 'VALID' | 'UNKNOWN' | 'NOT_VALID' | 'MISSING'
  readonly taxExempt: boolean
  readonly taxExemptNote: string | null
}

export type TaxInputs = {
  readonly seller: TaxSeller
  readonly buyer: TaxBuyer
  /** The day that selects the rates: the invoice date. */
  readonly on: LocalDate
  readonly billingType: 'DEFAULT' | 'SELF_BILLING'
  /** `sales_tax_percentage` of the invoice or subscription. */
  readonly salesTaxPercentage: Decimal | null
  /** The platform's own rates, which come before the stored ones; absent where it has none. */
  readonly platformRates?: readonly PlatformTaxRate[]
  /** The taxed part of STANDARD amounts; if absent, all of it. From a tax provider's partial exemption. */
  readonly taxableShare?: Fraction
}

export type TaxTreatment =
  | 'LOCAL_RATE'
  | 'BUYER_COUNTRY_RATE'
  | 'SELLER_COUNTRY_RATE'
  | 'SALES_TAX'
  | 'REVERSE_CHARGE'
  | 'EXPORT'
  | 'BUYER_EXEMPT'
  | 'TAX_ENGINE'
  | 'NOT_COVERED'

export type TaxNoteCode =
  | 'REVERSE_CHARGE'
  | 'EXPORT'
  | 'TAX_EXEMPT'
  | 'NO_TAX'
  | 'EXEMPT'
  | 'PARTIALLY_EXEMPT'
  | 'SELF_BILLING_UK_DOMESTIC'
  | 'TAX_ENGINE'
export type TaxNote = { readonly code: TaxNoteCode; readonly text: string }
export type TaxRate = { readonly name: string; readonly percentage: Decimal }

export type TaxDecided = {
  readonly kind: 'DECIDED'
  readonly treatment: TaxTreatment
  /** The taxes of STANDARD items, several for Canada; empty means 0 %. */
  readonly rates: readonly TaxRate[]
  /** Who published the rates, each once; empty for a percentage that the invoice gives. */
  readonly sources: readonly string[]
  readonly taxableShare: Fraction
  /** Why STANDARD items carry no tax, if they carry none. */
  readonly notes: readonly TaxNote[]
  /** Notes about the invoice as a whole. */
  readonly invoiceNotes: readonly TaxNote[]
  /** The country of the registration under which tax is charged, when it is not that of the registered address. */
  readonly usedRegistration: string | null
}
/** A missing figure prevents a tax decision. `field` names it as in the contract. */
export type TaxDecision = TaxDecided | { readonly kind: 'INCOMPLETE'; readonly field: string; readonly message: string }

const note = (code: TaxNoteCode, text: string): readonly TaxNote[] => [{ code, text }]
const REVERSE_CHARGE = note(
  'REVERSE_CHARGE',
  'Reverse charge: VAT to be accounted for by the recipient (Article 196 of Council Directive 2006/112/EC).',
)
const EXPORT = note('EXPORT', 'No tax charged: supplied to a customer outside the tax territory of the seller.')
const NO_TAX = note('NO_TAX', 'Not subject to tax.')
const EXEMPT = note('EXEMPT', 'Exempt from tax.')
export const PARTIALLY_EXEMPT = note('PARTIALLY_EXEMPT', 'Exempt part of a partially exempt supply.')
const SELF_BILLING_UK = note('SELF_BILLING_UK_DOMESTIC', 'The VAT shown is your output tax due to HMRC.')
const BUYER_EXEMPT = 'The customer is exempt from tax.'

/** Why the buyer is exempt, in the words of the seller. */
export const taxExemptOf = (text: string): readonly TaxNote[] => note('TAX_EXEMPT', text)

/** Why an invoice carries no tax, in the sentences that documents translate. */
export const UNTAXED_NOTES = { REVERSE_CHARGE, EXPORT, NO_TAX, EXEMPT: note('TAX_EXEMPT', BUYER_EXEMPT) } as const

/** A note of an issued invoice, which has its text alone. An exemption has the words of the seller. */
export const noteOf = (text: string): TaxNote =>
  [REVERSE_CHARGE, EXPORT, NO_TAX, EXEMPT, PARTIALLY_EXEMPT].flat().find(known => known.text === text) ?? {
    code: 'TAX_EXEMPT',
    text,
  }

/** The notes that two parties call for, whoever decides the tax. */
export const invoiceNotesOf = (billingType: TaxInputs['billingType'], seller: string, buyer: string) =>
  billingType === 'SELF_BILLING' && seller === 'GB' && buyer === 'GB' ? SELF_BILLING_UK : []

type Ruling = Pick<TaxDecided, 'treatment' | 'rates'> &
  Partial<Pick<TaxDecided, 'sources' | 'notes' | 'usedRegistration'>>
type Answer = Ruling | Extract<TaxDecision, { kind: 'INCOMPLETE' }>

const incomplete = (field: string, message: string): Answer => ({ kind: 'INCOMPLETE', field, message })
const isVatCountry = (country: string): boolean => country === 'GB' || isEuMember(country)

const unknownRate = (country: string, on: LocalDate): Answer =>
  incomplete('invoice_date', `No tax rate of ${country} is known for ${on}. Add it: POST /v1/tax-rates.`)

const charged = (treatment: TaxTreatment, rates: readonly RateInForce[]): Ruling => ({
  treatment,
  rates: rates.flatMap(({ name, percentage }) => (percentage.eq(ZERO) ? [] : [{ name, percentage }])),
  sources: [...new Set(rates.map(({ source }) => source))],
})

/** The standard rate of `country`, or what is missing. */
function rateOf(country: string, treatment: TaxTreatment, { on, platformRates }: TaxInputs): Answer {
  const rate = standardRate(country, on, platformRates)
  return rate ? charged(treatment, [rate]) : unknownRate(country, on)
}

/** An individual is taxed in their own country once the seller is registered there, when both are in the EU or GB. */
function registrationRate(question: TaxInputs): Answer | null {
  const { seller, buyer } = question
  if (buyer.kind !== 'INDIVIDUAL' || !isVatCountry(buyer.country)) return null
  if (!seller.registeredIn.includes(buyer.country)) return null
  const answer = rateOf(buyer.country, 'BUYER_COUNTRY_RATE', question)
  return 'kind' in answer ? answer : { ...answer, usedRegistration: buyer.country }
}

/**
 * Seller in the EU or GB: the local rate for domestic sales; inside the EU it depends on the buyer; everything else is
 * an export.
 */
function europeanRule(question: TaxInputs): Answer {
  const { seller, buyer } = question
  if (seller.country === buyer.country) return rateOf(seller.country, 'LOCAL_RATE', question)
  const registered = registrationRate(question)
  if (registered) return registered
  if (!isEuMember(seller.country) || !isEuMember(buyer.country)) return exportRule(question)
  if (buyer.kind === 'INDIVIDUAL') return rateOf(seller.country, 'SELLER_COUNTRY_RATE', question)
  const hasTaxId = buyer.taxId === 'VALID' || buyer.taxId === 'UNKNOWN'
  if (!hasTaxId && seller.applyLocalVatForMissingTaxId) {
    return rateOf(seller.country, 'SELLER_COUNTRY_RATE', question)
  }
  return { treatment: 'REVERSE_CHARGE', rates: [], notes: REVERSE_CHARGE }
}

const givenSalesTax = (percentage: Decimal): Ruling => ({
  treatment: 'SALES_TAX',
  rates: percentage.eq(ZERO) ? [] : [{ name: 'Sales tax', percentage }],
})

/** Across a border: no tax, unless one side is in the US and the invoice gives a percentage. */
function exportRule({ seller, buyer, salesTaxPercentage }: TaxInputs): Answer {
  const touchesUs = seller.country === 'US' || buyer.country === 'US'
  if (touchesUs && salesTaxPercentage !== null) return givenSalesTax(salesTaxPercentage)
  return { treatment: 'EXPORT', rates: [], notes: EXPORT }
}

function canadianRule(question: TaxInputs): Answer {
  const province = canadianProvince(question.buyer.region)
  if (province === null) {
    return incomplete('registered_address.state', 'Canadian tax needs the province of the customer.')
  }
  const { seller, on, platformRates } = question
  const rates = canadianRates(province, seller.taxIdTypes, on, platformRates)
  return rates ? charged('LOCAL_RATE', rates) : unknownRate('CA', on)
}

/** Seller and buyer in one country outside the EU and GB. */
function domesticRule(question: TaxInputs): Answer {
  const { seller, salesTaxPercentage } = question
  switch (seller.country) {
    case 'US':
      return salesTaxPercentage === null
        ? incomplete('sales_tax_percentage', 'Between two parties in the US sales_tax_percentage must be given.')
        : givenSalesTax(salesTaxPercentage)
    case 'CA':
      return canadianRule(question)
    case 'AU':
      return rateOf('AU', 'LOCAL_RATE', question)
    default:
      // No rate of this country is stored; a percentage on the invoice is the seller's own and is used as given.
      return salesTaxPercentage === null
        ? rateOf(seller.country, 'LOCAL_RATE', question)
        : givenSalesTax(salesTaxPercentage)
  }
}

function ruleFor(question: TaxInputs): Answer {
  const { seller, buyer } = question
  if (buyer.kind === 'ORGANIZATION' && buyer.taxExempt) {
    const text = buyer.taxExemptNote ?? BUYER_EXEMPT
    return { treatment: 'BUYER_EXEMPT', rates: [], notes: taxExemptOf(text) }
  }
  if (isVatCountry(seller.country)) return europeanRule(question)
  return seller.country === buyer.country ? domesticRule(question) : exportRule(question)
}

/** The tax of an invoice's STANDARD items, or the missing figure that prevents a decision. Semantics 5.5. */
export function decideTax(question: TaxInputs): TaxDecision {
  const answer = ruleFor(question)
  if ('kind' in answer) return answer
  const { seller, buyer, billingType } = question
  return {
    kind: 'DECIDED',
    treatment: answer.treatment,
    rates: answer.rates,
    sources: answer.sources ?? [],
    taxableShare: answer.rates.length === 0 ? WHOLE : (question.taxableShare ?? WHOLE),
    notes: answer.notes ?? [],
    invoiceNotes: invoiceNotesOf(billingType, seller.country, buyer.country),
    usedRegistration: answer.usedRegistration ?? null,
  }
}

/** The tax of one category: the decision for STANDARD, always none for the other two, each with its reason. */
export type CategoryTax = {
  readonly name: string
  /** The sum of its rates. */
  readonly percentage: Decimal
  readonly rates: readonly TaxRate[]
  readonly taxableShare: Fraction
  readonly notes: readonly TaxNote[]
  /** Notes on the untaxed rest of a partial exemption. */
  readonly restNotes: readonly TaxNote[]
  /** The country under whose registration it was charged; only of a tax that a line carries, where it is known. */
  readonly registeredIn?: string
}

export function taxOfCategory(decision: TaxDecided, category: TaxCategory): CategoryTax {
  const untaxed = { percentage: ZERO, rates: [], taxableShare: WHOLE, restNotes: [] }
  if (category === 'NO_TAX') return { ...untaxed, name: 'No tax', notes: NO_TAX }
  if (category === 'EXEMPT') return { ...untaxed, name: 'Exempt', notes: EXEMPT }
  const { rates, taxableShare, notes } = decision
  const name = rates.map(rate => rate.name).join(' + ') || 'No tax'
  const percentage = sum(rates.map(rate => rate.percentage))
  return { name, percentage, rates, taxableShare, notes, restNotes: PARTIALLY_EXEMPT }
}

/**
 * A decision with one plain rate, for invoices whose tax was set by a user or a provider. In per cent: "21" is 21 %.
 */
export const taxAtRate = (name: string, percentage: string, taxableShare: Fraction = WHOLE): TaxDecided => ({
  kind: 'DECIDED',
  treatment: 'SALES_TAX',
  rates: decimal(percentage).eq(ZERO) ? [] : [{ name, percentage: decimal(percentage) }],
  sources: [],
  taxableShare,
  notes: [],
  invoiceNotes: [],
  usedRegistration: null,
})
