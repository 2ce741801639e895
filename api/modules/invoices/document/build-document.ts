// From draft lines to a document: rounds and taxes them (shared/billing/amount-pipeline.ts), then lays them out in
// periods, groups and lines. Pure: the same draft gives the same document, byte for byte.
import {
  computingAmounts,
  type InvoiceAmounts,
  type RoundingMode,
  type TaxSummary,
} from '../../../../shared/billing/amount-pipeline.ts'
import { otherTax } from '../../../../shared/billing/tax/carried-tax.ts'
import { type Decimal, plain, ZERO } from '../../../../shared/decimal.ts'
import { NO_MEMBERS } from '../../../../shared/extended.ts'
import { moneyView } from '../../../../shared/money.ts'
import { inOneGo, mapPausing, type PausingWork } from '../../../../shared/pausing-work.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { numberFieldFaults } from '../../parties/platforms/number-fields.ts'
import { ratesUsed } from '../lines/rates-used.ts'
import type { LineValues } from '../lines/table.ts'
import type { InvoiceContent, MoneyView, PeriodView, SubLineView, TaxCategoryView } from '../schema.ts'
import type { DraftInvoice, Finding, NamedOnLines } from './draft-invoice.ts'
import { type Figures, type LaidLine, layOut, lineId, periodsOf, shown } from './lay-out.ts'
import { lineValues } from './line-values.ts'
import { type Parties, roundingOf, zoneOfParties } from './parties.ts'
import { payFromBalances } from './pay-from-balances.ts'
import { type InvoiceTax, invoiceTax } from './tax/invoice-tax.ts'
import { type LocalRate, localAmounts, localRateOf, localTotals } from './tax/local-amounts.ts'
import { sidesOf } from './tax/tax-sides.ts'
import { usedRegistrations } from './tax/used-registrations.ts'

/** The columns of an invoice that follow from its draft; decimals as strings. */
export type DocumentColumns = {
  readonly invoice_date: string | null
  readonly delivery_date: string
  readonly due_date: string | null
  readonly billing_currency: string
  readonly timezone: string
  readonly amount_excluding_tax: string
  readonly tax_amount: string
  readonly amount_including_tax: string
  readonly sales_tax_percentage: string | null
  readonly content: InvoiceContent
}

export type Document = { readonly columns: DocumentColumns; readonly lines: readonly LineValues[] }

/** The amounts of a draft after rounding and tax. */
export type DocumentAmounts = {
  readonly amounts: InvoiceAmounts
  readonly tax: InvoiceTax
  /** Null where the tax is stated in the currency of the invoice alone. */
  readonly localRate: LocalRate | null
  readonly rounding: RoundingMode
  /**
   * The amount of the line with this key, with tax when the prices include it; undefined when there is no such line.
   */
  printed(key: string): Decimal
  /** An amount as a line prints it. */
  show(quantity: Decimal): MoneyView
}

/** Rounds and taxes the lines of a draft. */
export const documentAmounts = (draft: DraftInvoice): DocumentAmounts => inOneGo(documentingAmounts(draft))

/** The same, with pauses. */
export function* documentingAmounts(draft: DraftInvoice): PausingWork<DocumentAmounts> {
  const decided = invoiceTax(draft, draft.dates.day)
  const carried = draft.lines.map(line => otherTax(line, decided.decision))
  const rates = [...decided.decision.rates, ...carried.flatMap(tax => tax?.rates ?? [])]
  const { used } = usedRegistrations(draft, decided.decision)
  const local = localRateOf(draft, { rates, usedRegistration: used })
  const tax = { ...decided, findings: [...decided.findings, ...local.findings] }
  const { currency, amountType } = draft
  const rounding = roundingOf(draft.parties)
  const lines = draft.lines.map(({ key, quantity, taxCategory }, place) => {
    const own = carried[place]
    return { key, quantity, taxCategory, ...(own ? { tax: own } : {}) }
  })
  const amounts = yield* computingAmounts({ currency, amountType, rounding, tax: tax.decision, sign: 'INVOICE', lines })
  const byKey = new Map(amounts.lines.map(line => [line.key, line]))
  return {
    amounts,
    tax,
    localRate: local.rate,
    rounding,
    printed: key => {
      const line = byKey.get(key)
      return (amountType === 'INCLUDING_TAX' ? line?.amountIncludingTax : line?.amountExcludingTax)?.quantity ?? ZERO
    },
    show: quantity => shown({ amounts, rounding }, quantity),
  }
}

/** What a document shows besides its lines, once their amounts are known. */
export type BesideLines = {
  /** By the key of their line. */
  readonly subLines: ReadonlyMap<string, readonly SubLineView[] | null>
  /** The customers of the sub lines; null when no line has sub lines of customers. */
  readonly customers: NamedOnLines
}

/** The lines of a document, in its order: all that is kept of an invoice that is only compared. */
export const documentLines = (draft: DraftInvoice, priced: DocumentAmounts): LineValues[] =>
  inOneGo(laidLines(draft, priced)).flat(2).map(lineValues)

/** By period and group. */
function* laidLines(draft: DraftInvoice, { amounts }: DocumentAmounts): PausingWork<LaidLine[][][]> {
  const byKey = new Map(amounts.lines.map(line => [line.key, line]))
  const laid = yield* mapPausing(draft.lines, (line): LaidLine => {
    const found = byKey.get(line.key)
    if (!found) throw new Error(`no priced line for ${line.key}`)
    return { id: lineId(line.key), draft: line, priced: found }
  })
  return periodsOf(laid)
}

/** Builds the document of a draft with its amounts. */
export const buildDocument = (draft: DraftInvoice, priced: DocumentAmounts, beside: BesideLines): Document =>
  inOneGo(buildingDocument(draft, priced, beside))

/** The same, with pauses. */
export function* buildingDocument(
  draft: DraftInvoice,
  priced: DocumentAmounts,
  beside: BesideLines,
): PausingWork<Document> {
  const { amounts, rounding } = priced
  const includingTax = draft.amountType === 'INCLUDING_TAX'
  const periods = yield* laidLines(draft, priced)
  yield
  const figures = { amounts, rounding, includingTax, subLines: beside.subLines, ...forwardedIn(draft) }
  const laidOut = yield* layOut(figures, periods)
  return {
    columns: columnsOf(draft, priced, contentOf(draft, priced, { periods: laidOut, customers: beside.customers })),
    lines: yield* mapPausing(periods.flat(2), lineValues),
  }
}

/** contract: groups of FORWARD_BILLING say who pays for whom (semantics 4.1). */
const forwardedIn = ({ forwardedFrom, parties }: DraftInvoice): Pick<Figures, 'forwarded'> =>
  forwardedFrom
    ? { forwarded: { billing_customer_id: parties.customer.id, forwarded_from_customer_id: forwardedFrom.id } }
    : {}

function columnsOf({ dates, ...draft }: DraftInvoice, { amounts }: DocumentAmounts, content: InvoiceContent) {
  const { base, tax, total } = amounts.totals
  const paid = payFromBalances(amounts, draft.balances)
  return {
    invoice_date: dates.invoiceDate,
    delivery_date: dates.deliveryDate,
    due_date: dates.dueDate,
    billing_currency: amounts.currency,
    timezone: zoneOfParties(draft.parties),
    amount_excluding_tax: plain(base.quantity),
    tax_amount: plain(tax.quantity),
    amount_including_tax: plain(total.quantity),
    sales_tax_percentage: draft.salesTaxPercentage,
    content: paid.length === 0 ? content : { ...content, wallet_balances: paid },
  }
}

type Layout = { readonly periods: PeriodView[]; readonly customers: NamedOnLines }

function contentOf(draft: DraftInvoice, priced: DocumentAmounts, layout: Layout): InvoiceContent {
  const { amounts, tax, rounding } = priced
  const { customer, billing_entity, platform } = draft.parties
  const { footnote } = platform.invoice_settings
  const { used: registration, others } = usedRegistrations(draft, tax.decision)
  const country = registration ?? sidesOf(draft.parties, draft.billingType ?? 'DEFAULT').seller.country
  const notes = tax.decision.invoiceNotes.map(note => note.text)
  const summaries = taxCategories(amounts, priced.localRate)
  return {
    ...NO_MEMBERS,
    ...(customer.reference === null ? {} : { customer_reference: customer.reference }),
    customer: { object_type: 'CUSTOMER', ...customer },
    billing_entity: { object_type: 'BILLING_ENTITY', ...billing_entity },
    ...(draft.purchaseOrderNumber === null ? {} : { purchase_order_number: draft.purchaseOrderNumber }),
    pricing_plan_subscription_ids: [...draft.subscriptionIds],
    ...(draft.combinedIds ? { combined_invoice_ids: [...draft.combinedIds] } : {}),
    ...periodMembers(draft),
    pricing_amount_type: draft.amountType,
    rounding_mode: rounding,
    tax_categories: summaries,
    tax_summary: {
      base_amount: moneyView(amounts.totals.base),
      tax_amount: moneyView(amounts.totals.tax),
      total_amount: moneyView(amounts.totals.total),
      ...localTotals(summaries),
      notes,
      ...(country ? { country_code: country } : {}),
    },
    ...(registration === null ? {} : { used_tax_registration: usedRegistration(draft.parties, registration) }),
    ...(others.length === 0
      ? {}
      : { other_tax_registrations: others.map(each => usedRegistration(draft.parties, each)) }),
    ...usedExchangeRates(draft),
    notes: [...notes],
    ...(footnote ? { footnote } : {}),
    has_usage_based_pricing: draft.hasUsage,
    ...(draft.copiedFields.length === 0 ? {} : { other_custom_fields: [...draft.copiedFields] }),
    ...(draft.forwardedFrom ? { forwarded_from_customers: [{ object_type: 'CUSTOMER', ...draft.forwardedFrom }] } : {}),
    ...(tax.open ? { tax_question: tax.open } : {}),
    ...(tax.key ? { tax_key: tax.key } : {}),
    validation_result: [...tax.findings, ...draft.findings, ...numberFindings(draft)].map(finding => ({ ...finding })),
    ...(layout.customers
      ? {
          display_invoice_sub_lines_per_processing_only_customer: true,
          processing_only_customers: [...layout.customers],
        }
      : {}),
    periods: layout.periods,
  }
}

/** The exchange rates that its lines used, each once. */
function usedExchangeRates({ lines }: DraftInvoice): Pick<InvoiceContent, 'used_exchange_rates'> {
  const used = ratesUsed(lines)
  return used.length === 0 ? {} : { used_exchange_rates: used }
}

/** What keeps the invoice from getting a number; an invoice that charges nothing gets none. */
const numberFindings = ({ parties, lines }: DraftInvoice): Finding[] =>
  lines.length === 0 ? [] : numberFieldFaults(parties.number_fields).map(details => ({ status: 'ERROR', details }))

/** The registration in a country: the first, if there are several. */
function usedRegistration({ billing_entity }: Parties, country: string) {
  const found = billing_entity.tax_registrations?.find(
    ({ registered_address: address }) => address?.country === country,
  )
  return { country, ...found }
}

const periodMembers = ({ period }: DraftInvoice) =>
  period === null ? {} : { billing_period: { ...period.length }, billing_period_date: formatInstant(period.cutoffAt) }

const localOf = (rate: LocalRate, { baseAmount, taxAmount }: TaxSummary) =>
  localAmounts(rate, { base: baseAmount.quantity, tax: taxAmount.quantity, currency: baseAmount.currency })

/** The tax summaries of an invoice as it shows them; with the rate also in the currency of the tax authority. */
export const taxCategories = (amounts: InvoiceAmounts, localRate: LocalRate | null): TaxCategoryView[] =>
  amounts.summaries.map(summary => ({
    base_amount: moneyView(summary.baseAmount),
    tax_amount: moneyView(summary.taxAmount),
    total_amount: moneyView(summary.totalAmount),
    ...(localRate ? { local_amounts: localOf(localRate, summary) } : {}),
    percentage: plain(summary.percentage),
    name: summary.name,
    category: summary.category,
    notes: summary.notes.map(note => note.text),
    rates: summary.rates.map(rate => ({
      name: rate.name,
      percentage: plain(rate.percentage),
      tax_amount: moneyView(rate.taxAmount),
    })),
  }))
