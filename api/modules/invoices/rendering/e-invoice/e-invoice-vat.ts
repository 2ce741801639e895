// The VAT categories of an e-invoice (UNTDID 5305) from the tax summaries of the invoice.
import { type Decimal, decimal, plain, ZERO } from '../../../../../shared/decimal.ts'
import { currencyExponent, roundParts } from '../../../../../shared/money.ts'
import type { InvoiceView, TaxCategoryView } from '../../schema.ts'
import { printable } from '../model/printable.ts'
import { isSentence, type Locale, sentenceIn, wordsOf } from '../words/words.ts'
import { type EInvoiceParty, sameVat, type Vat, type VatCategory, type VatRow } from './e-invoice-model.ts'
import { notExpressible } from './refusal.ts'

export type VatContext = {
  readonly seller: EInvoiceParty
  readonly buyer: EInvoiceParty
  readonly locale: Locale
}

/**
 * The tax summaries with amounts that sum to the printed totals. Only those of an UNROUNDED credit note are exact, and are
 * rounded here.
 */
export function printedSummaries({
  tax_categories: summaries,
  tax_summary,
  billing_currency,
}: InvoiceView): TaxCategoryView[] {
  if (summaries.length === 0) return []
  const rounded = (name: 'base_amount' | 'tax_amount') =>
    roundParts(
      summaries.map(summary => decimal(summary[name].quantity)),
      decimal(tax_summary[name].quantity),
      currencyExponent(billing_currency),
    )
  const [bases, taxes] = [rounded('base_amount'), rounded('tax_amount')]
  return summaries.map((summary, index) => ({
    ...summary,
    base_amount: { quantity: plain(bases[index] ?? ZERO), currency: billing_currency },
    tax_amount: { quantity: plain(taxes[index] ?? ZERO), currency: billing_currency },
  }))
}

/** Their sales taxes are not VAT, the only tax that EN 16931 knows. */
const SALES_TAX_COUNTRIES = new Set(['US', 'CA'])

const REASON_CODES: Readonly<Partial<Record<VatCategory, string>>> = {
  AE: 'VATEX-EU-AE',
  G: 'VATEX-EU-G',
  O: 'VATEX-EU-O',
}

/**
 * The VAT of each tax summary, in the same order. Throws INVALID_OPERATION for a tax that is not VAT, and when the tax id that
 * a category needs is missing (BR-S-2, BR-Z-2, BR-E-2, BR-AE-2, BR-G-2).
 */
export function vatOfSummaries(invoice: InvoiceView, context: VatContext): Vat[] {
  if (invoice.other_tax_registrations?.length)
    throw notExpressible(
      'other_tax_registrations',
      'a refund on it is of tax that was charged under another registration, and the standard has one tax id of the seller.',
    )
  const found = invoice.tax_categories.map(summary => categoryOf(summary, invoice, context))
  // Nothing else may stand beside category O (BR-O-11), so beside another category it is an exemption.
  const onlyO = found.every(category => category === 'O')
  const categories = onlyO ? found : found.map(category => (category === 'O' ? 'E' : category))
  for (const category of categories) requireIds(category, invoice, context)
  return invoice.tax_categories.map(({ percentage }, index) => {
    const category = categories[index] ?? 'S'
    return { category, rate: category === 'O' ? null : decimal(percentage) }
  })
}

function categoryOf(summary: TaxCategoryView, invoice: InvoiceView, { seller }: VatContext): VatCategory {
  const says = (sentence: Parameters<typeof isSentence>[0]) => summary.notes.some(note => isSentence(sentence, note))
  if (!decimal(summary.percentage).eq(ZERO)) {
    const country = invoice.used_tax_registration?.country ?? seller.address.country
    if (!SALES_TAX_COUNTRIES.has(country)) return 'S'
    throw notExpressible(
      'tax_categories',
      `the sales tax of ${country} is not VAT, and the standard expresses VAT only.`,
    )
  }
  if (says('REVERSE_CHARGE')) return 'AE'
  if (says('EXPORT')) return seller.vatId === null ? 'O' : 'G'
  if (says('NO_TAX')) return 'O'
  // A tax engine named the rate of zero.
  if (summary.rates.length > 0 && seller.vatId !== null) return 'Z'
  if (summary.notes.length > 0) return 'E'
  // A rate of zero that was given, or a country without a rule of its own.
  return invoice.sales_tax_percentage !== null && seller.vatId !== null ? 'Z' : 'O'
}

function requireIds(category: VatCategory, { billing_type }: InvoiceView, { seller, buyer }: VatContext): void {
  if (category === 'O') return
  const [entity, customer] = ['billing_entity.tax_id', 'customer.organization.tax_id']
  const [ofSeller, ofBuyer] = billing_type === 'SELF_BILLING' ? [customer, entity] : [entity, customer]
  const needsVatId = category === 'G' || category === 'AE'
  if (seller.vatId === null && (needsVatId || seller.taxRegistration === null)) {
    throw notExpressible(
      ofSeller,
      `the tax id of the seller is missing. Set ${ofSeller}, then credit the invoice and bill again.`,
    )
  }
  if (category === 'AE' && buyer.vatId === null && buyer.registrationNumber === null) {
    throw notExpressible(
      ofBuyer,
      `reverse charge needs a tax id or a registration number of the buyer. Set ${ofBuyer}, then credit the invoice and bill again.`,
    )
  }
}

/** The VAT breakdown: one row per category and rate (BR-S-1 and the like). `sign` is -1 for a credit note. */
export function vatRows(
  summaries: readonly TaxCategoryView[],
  vats: readonly Vat[],
  { locale, sign }: { readonly locale: Locale; readonly sign: Decimal },
): VatRow[] {
  const words = wordsOf(locale)
  const rows: VatRow[] = []
  for (const [index, summary] of summaries.entries()) {
    const vat = vats[index]
    if (!vat) throw new Error('every tax summary has its VAT')
    const base = decimal(summary.base_amount.quantity).times(sign)
    const tax = decimal(summary.tax_amount.quantity).times(sign)
    const reason = reasonOf(
      vat,
      summary.notes.map(note => printable(sentenceIn(words, note))),
    )
    const place = rows.findIndex(row => sameVat(row.vat, vat))
    const known = rows[place]
    if (known) {
      const reasons = new Set([known.reason, reason].filter(text => text !== null))
      rows[place] = {
        ...known,
        base: known.base.plus(base),
        tax: known.tax.plus(tax),
        reason: reasons.size === 0 ? null : [...reasons].join(' '),
      }
    } else rows.push({ vat, base, tax, reason, reasonCode: REASON_CODES[vat.category] ?? null })
  }
  return rows
}

/** Charged VAT, also at rate zero, has no reason (BR-S-10, BR-Z-10); every other category needs one (BR-E-10 and the like). */
function reasonOf({ category }: Vat, notes: readonly string[]): string | null {
  if (category === 'S' || category === 'Z') return null
  return notes.join(' ') || 'Not subject to VAT.'
}
