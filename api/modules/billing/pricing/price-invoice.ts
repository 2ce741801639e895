// From terms and usage to an invoice, step by step: charges, their amounts, draft lines, and the document (semantics
// 5.3, 5.4). Pure: the same inputs give the same invoice, byte for byte.
import { plain } from '../../../../shared/decimal.ts'
import { extended } from '../../../../shared/extended.ts'
import { inOneGo, mapPausing, type PausingWork } from '../../../../shared/pausing-work.ts'
import { formatInstant, type Instant, type Interval, instantOf } from '../../../../shared/time.ts'
import { draftAddedLine } from '../../invoices/added-lines/price-added-line.ts'
import type { ChargeGrant } from '../../invoices/charge-grants.ts'
import {
  type BesideLines,
  buildingDocument,
  type DocumentAmounts,
  documentingAmounts,
  documentLines,
  taxCategories,
} from '../../invoices/document/build-document.ts'
import type { DraftInvoice } from '../../invoices/document/draft-invoice.ts'
import { type InvoiceDates, invoiceDates } from '../../invoices/document/invoice-dates.ts'
import { defaultTaxCategory, zoneOfParties } from '../../invoices/document/parties.ts'
import type { LineValues } from '../../invoices/lines/table.ts'
import type { InvoiceColumns } from '../../invoices/table.ts'
import type { Charge } from '../charges/charge.ts'
import { chargesOf } from '../charges/charges.ts'
import { grantsOfCharges } from '../grants/grants-of-charges.ts'
import type { ClosedCharge } from '../late/closed-usage.ts'
import { draftLine } from '../rating/draft-line.ts'
import { exchangesOn, staleRates, withExchange } from '../rating/exchange.ts'
import { staleUsageRates, withoutUnpriced } from '../rating/foreign-usage.ts'
import type { RatedCharge } from '../rating/rate-charge.ts'
import { refundedTerm, refundLines } from '../refunds/refund-lines.ts'
import { partsOfCharges } from '../shares/customer-parts.ts'
import { customersOnLines } from '../shares/customer-sub-lines.ts'
import { subLinesOf } from '../shares/sub-lines.ts'
import { type BillingInputs, usingCustomer } from '../terms/billing-inputs.ts'
import { billingTypeOf } from '../terms/billing-type.ts'
import { isMetered } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoicedLengthAt, onlyRefunds, periodOf } from '../terms/windows.ts'
import { type AfterClauses, linesThatFill, withClauses } from './apply-clauses.ts'
import { countedCharges } from './counted-charges.ts'
import type { InvoiceRequest } from './invoice-request.ts'
import { advanceChargesIn, type PeriodColumns } from './period-columns.ts'
import { amountTypeOf, type RatedInvoice, rateCharges } from './rate-charges.ts'

/** An invoice for a period of a subscription. */
export type PricedInvoice = {
  readonly columns: InvoiceColumns & PeriodColumns
  readonly lines: readonly LineValues[]
  /** What its charges grant to wallets. */
  readonly grants: readonly ChargeGrant[]
  /** Keys of the charges that it bills in advance, and of the minimums that it reaches ahead. */
  readonly advanceCharges: readonly string[]
  /** What it would have billed if it were closed now. */
  readonly counted: readonly ClosedCharge[]
}

/** Prices the invoice of one window. Throws INVALID_OPERATION when a price or a currency cannot be billed. */
export const priceInvoice = (inputs: BillingInputs, request: InvoiceRequest): PricedInvoice =>
  inOneGo(pricingInvoice(inputs, request))

/** The same, with pauses: of an invoice of thousands of lines. */
export function* pricingInvoice(inputs: BillingInputs, request: InvoiceRequest): PausingWork<PricedInvoice> {
  const part = yield* pricingBeforeDocument(inputs, request)
  const document = yield* buildingDocument(part.draft, part.amounts, part.beside)
  return {
    columns: extended(document.columns, part.period),
    lines: document.lines,
    grants: part.grants,
    advanceCharges: advanceChargesIn(document.lines, request.window.cutoffAt),
    counted: part.counted,
  }
}

/** An invoice as far as it is compared with another one. */
export type InvoiceFigures = Pick<PricedInvoice, 'lines' | 'counted'> & {
  readonly columns: Pick<InvoiceColumns, 'amount_excluding_tax' | 'tax_amount' | 'amount_including_tax'> & {
    /** Its taxes, which refunds of its charges carry. */
    readonly content: Pick<InvoiceColumns['content'], 'tax_categories'>
  }
  /** The prices include tax, and what tax applies is not known: so the amounts without tax are not known either. */
  readonly lacksTax?: true
}

/** The figures of `priceInvoice`, without laying its document out. Throws as it does. */
export function priceFigures(inputs: BillingInputs, request: InvoiceRequest): InvoiceFigures {
  const priced = priceParts(inputs, request)
  const { rated, draft, amounts } = priced
  const { base, tax, total } = amounts.amounts.totals
  return {
    columns: {
      amount_excluding_tax: plain(base.quantity),
      tax_amount: plain(tax.quantity),
      amount_including_tax: plain(total.quantity),
      content: { tax_categories: taxCategories(amounts.amounts, null) },
    },
    lines: documentLines(draft, amounts),
    ...(draft.amountType === 'INCLUDING_TAX' && amounts.tax.open?.as_of === null ? { lacksTax: true } : {}),
    counted: countedCharges(
      rated.all,
      { printed: amounts.printed, nets: priced.nets },
      partsIn(inputs, request, priced),
    ),
  }
}

/** A priced invoice before its document is laid out. */
export type InvoiceBeforeDocument = {
  readonly draft: DraftInvoice
  readonly amounts: DocumentAmounts
  readonly beside: BesideLines
  readonly period: PeriodColumns
  readonly grants: readonly ChargeGrant[]
  readonly counted: readonly ClosedCharge[]
  readonly rated: readonly RatedCharge[]
}

/** The same as `priceInvoice`, up to the document. */
export const priceBeforeDocument = (inputs: BillingInputs, request: InvoiceRequest): InvoiceBeforeDocument =>
  inOneGo(pricingBeforeDocument(inputs, request))

function* pricingBeforeDocument(inputs: BillingInputs, request: InvoiceRequest): PausingWork<InvoiceBeforeDocument> {
  const priced = yield* pricingParts(inputs, request)
  const { rated, draft, amounts } = priced
  const parts = partsIn(inputs, request, priced)
  const shared = { parts, show: amounts.show }
  const subLines = yield* mapPausing(
    rated.onInvoice,
    each => [each.charge.key, subLinesOf(inputs, each, shared)] as const,
  )
  const counted = countedCharges(rated.all, { printed: amounts.printed, nets: priced.nets }, parts)
  yield
  return {
    draft,
    amounts,
    beside: {
      subLines: new Map(subLines),
      customers: parts && customersOnLines(inputs, rated.onInvoice, parts),
    },
    period: periodColumns(request.window, rated.charges),
    grants: grantsOfCharges(inputs, request, { rated: rated.all, printed: amounts.printed }),
    counted,
    rated: rated.all,
  }
}

/** Each customer's part of its charges, where the subscription shows that. */
function partsIn(inputs: BillingInputs, request: InvoiceRequest, { rated, amounts }: PriceParts) {
  const shares = inputs.subscription.display_invoice_sub_lines_per_processing_only_customer
  return partsOfCharges(shares ? request : {}, {
    rated: rated.all.filter(({ credits }) => !credits),
    printed: amounts.printed,
    rounding: amounts.rounding,
    ownId: usingCustomer(inputs).id,
  })
}

/** How the amounts of an invoice come about, before the document is laid out. */
export type PriceParts = AfterClauses & { readonly rated: RatedInvoice; readonly amounts: DocumentAmounts }

/** The same steps as in `priceInvoice`, with their intermediate results. */
export const priceParts = (inputs: BillingInputs, given: InvoiceRequest): PriceParts =>
  inOneGo(pricingParts(inputs, given))

function* pricingParts(inputs: BillingInputs, given: InvoiceRequest): PausingWork<PriceParts> {
  const { terms, window, billed, bought, late = [] } = given
  const charges = bought ?? chargesOf(terms, window, billed)
  const { usage, findings: unpriced } = given.mayLackRates
    ? withoutUnpriced(given.usage, charges)
    : { usage: given.usage, findings: [] }
  const request = { ...given, usage }
  const dates = datesOf(inputs, request, [...charges, ...late.map(({ charge }) => charge)])
  const exchangeOf = exchangesOn(inputs, { day: dates.day, zone: zoneOfParties(inputs) })
  const own = charges.map(charge => withExchange(charge, exchangeOf))
  yield
  const rated = yield* rateCharges(inputs, request, own)
  const used = rated.onInvoice.flatMap(({ charge }) => (charge.late || !charge.exchange ? [] : charge.exchange))
  const findings = [
    ...unpriced,
    ...rated.findings,
    ...staleRates(used, { day: dates.day, zone: zoneOfParties(inputs) }),
    ...staleUsageRates(rated.all.flatMap(({ exchange }) => exchange?.stale ?? [])),
  ]
  const drafted = yield* draftOf(inputs, request, { ...rated, findings })
  const before = { rated: rated.all, draft: drafted, exchangeOf }
  const { draft, steps, nets } = withClauses(inputs, request, before)
  yield
  return { rated, draft, amounts: yield* documentingAmounts(draft), steps, nets }
}

/** The dates of an invoice with these charges; the day also selects the rates of exchange. */
function datesOf(
  inputs: BillingInputs,
  { window, finalizedAt }: Pick<InvoiceRequest, 'window' | 'finalizedAt'>,
  charges: readonly Charge[],
): InvoiceDates {
  const onlyAdvance =
    onlyRefunds(window) ||
    (window.advance !== null && charges.length > 0 && charges.every(({ inAdvance }) => inAdvance))
  return invoiceDates({
    settings: inputs.platform,
    zone: zoneOfParties(inputs),
    due: inputs.subscription.due_date_configuration,
    service: onlyAdvance && window.advance ? window.advance : periodOf(window),
    cutoffAt: window.cutoffAt,
    onlyAdvance,
    finalizedAt,
  })
}

function* draftOf(inputs: BillingInputs, request: InvoiceRequest, rated: RatedInvoice): PausingWork<DraftInvoice> {
  const { terms, window, refunds = [], added = [], balances = [], bought } = request
  const { subscription, platform, customer, billing_entity, number_fields } = inputs
  const { tax_rates, tax_answers, tax_exchange_rates } = inputs
  const rates = {
    ...(tax_rates ? { tax_rates } : {}),
    ...(tax_answers ? { tax_answers } : {}),
    ...(tax_exchange_rates ? { tax_exchange_rates } : {}),
  }
  const { charges } = rated
  const dates = datesOf(inputs, request, charges)
  const to = { currency: subscription.billing_currency, defaultTaxCategory: defaultTaxCategory(inputs) }
  const lines = yield* mapPausing(rated.onInvoice, draftLine)
  return {
    parties: { platform, customer, billing_entity, number_fields, ...rates },
    currency: subscription.billing_currency,
    amountType: amountTypeOf([...charges, ...refunds.map(refund => refundedTerm(terms, refund))]),
    dates,
    purchaseOrderNumber: subscription.purchase_order_number,
    salesTaxPercentage: subscription.sales_tax_percentage,
    billingType: billingTypeOf(inputs),
    lines: [...lines, ...refundLines(inputs, terms, refunds), ...added.map(line => draftAddedLine(line, to))],
    balances: balances.map(each => ({ ...each, except: linesThatFill(rated.all, each.walletTypeId) })),
    findings: rated.findings,
    subscriptionIds: [subscription.id],
    ...(inputs.forwarded_from ? { forwardedFrom: inputs.forwarded_from } : {}),
    period: bought ? null : { length: invoicedLengthAt(inputs, periodOf(window).start), cutoffAt: window.cutoffAt },
    hasUsage: charges.some(isMetered),
    copiedFields: copiedFields(inputs, rated.onInvoice),
  }
}

/** The custom fields of the parties and the subscription, and of the plans, products and items that have a line. */
function copiedFields({ copied_fields, schedules }: BillingInputs, onInvoice: readonly RatedCharge[]) {
  if (copied_fields.length === 0) return []
  const lines = onInvoice.map(draftLine)
  const plans = schedules.filter(({ id }) => lines.some(({ of }) => of.scheduleId === id))
  const sold = new Set<string | null>([
    ...plans.map(schedule => schedule.pricing_plan_id),
    ...lines.flatMap(({ of }) => [of.productId, of.productItemId]),
  ])
  const always = ['CUSTOMER', 'BILLING_ENTITY', 'PRICING_PLAN_SUBSCRIPTION']
  return copied_fields.filter(({ resource: { type, id } }) => always.includes(type) || sold.has(id))
}

function periodColumns(window: InvoiceWindow, charges: readonly Charge[]): PeriodColumns {
  const period = periodOf(window)
  return {
    period_start: formatInstant(period.start),
    period_end: formatInstant(period.end),
    advance_only: window.arrears === null,
    cutoff_at: formatInstant(window.cutoffAt),
    usage_from: formatInstant(usageFrom(period, charges)),
  }
}

/**
 * The earliest usage that the invoice rates for its own charges; a pricing period or carried-over state may start
 * before its period.
 */
const usageFrom = (period: Interval, charges: readonly Charge[]): Instant =>
  instantOf(
    Math.min(
      period.start,
      ...charges.flatMap(({ usage, late }) => (usage === null || late !== null ? [] : usage.start)),
    ),
  )
