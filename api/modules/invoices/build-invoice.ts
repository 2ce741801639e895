// From prices and usage to an invoice: rate, round, tax, and lay out in periods, groups and lines (semantics 5.3, 5.4).
// Pure: the same inputs give the same invoice, byte for byte.
import {
  type AmountType,
  computeAmounts,
  type InvoiceAmounts,
  type RoundingMode,
} from '../../../shared/billing/amount-pipeline.ts'
import { TAX_CATEGORIES, type TaxCategory } from '../../../shared/billing/tax.ts'
import { plain } from '../../../shared/decimal.ts'
import { AppError } from '../../../shared/errors.ts'
import { moneyView } from '../../../shared/money.ts'
import { formatInstant, type Instant, type Interval, instantOf } from '../../../shared/time.ts'
import type { BillingInputs } from './billing-inputs.ts'
import { type Charge, chargesOf, isMetered } from './charges.ts'
import type { ClosedCharge } from './closed-usage.ts'
import { countedCharges, printedAmounts } from './counted-charges.ts'
import { type PartsOfCharges, partsOfCharges } from './customer-parts.ts'
import { customersOnLines } from './customer-sub-lines.ts'
import { type InvoiceDates, invoiceDates } from './invoice-dates.ts'
import { type InvoiceTax, invoiceTax, type TaxFinding } from './invoice-tax.ts'
import type { LateCharge } from './late-usage.ts'
import { layOut } from './layout.ts'
import { isZeroUsage, type RatedCharge, rateCharge, rateLate } from './rate-charge.ts'
import type { InvoiceContent, TaxCategoryView } from './schema.ts'
import type { CustomerFigures, UsageFigures } from './usage-needs.ts'
import { type InvoiceWindow, periodOf, zoneOfInputs } from './windows.ts'

export type InvoiceRequest = {
  readonly window: InvoiceWindow
  /** Keys of advance charges asked by other invoices of the subscription. */
  readonly billed: ReadonlySet<string>
  readonly usage: UsageFigures
  /** The same by customer, when usage lines say what of them is whose. */
  readonly usageByCustomer?: CustomerFigures | null
  /** Time of closed invoices that has usage they did not count. */
  readonly late?: readonly LateCharge[]
  /** Null until the invoice goes FINAL. */
  readonly finalisedAt: Instant | null
}

/** The columns of an invoice that are computed; decimals as text. */
export type BuiltInvoice = {
  readonly period_start: string
  readonly period_end: string
  readonly advance_only: boolean
  readonly cut_at: string
  readonly usage_from: string
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

/** An invoice, and what it would have counted if it were closed as it is. */
export type PricedInvoice = { readonly built: BuiltInvoice; readonly counted: readonly ClosedCharge[] }

/** Builds the invoice of one window. Throws INVALID_OPERATION when a price or a currency cannot be billed. */
export function buildInvoice(inputs: BillingInputs, request: InvoiceRequest): BuiltInvoice {
  return priceInvoice(inputs, request).built
}

/** As buildInvoice, and says what was counted. */
export function priceInvoice(inputs: BillingInputs, request: InvoiceRequest): PricedInvoice {
  const { window } = request
  const own = chargesOf(inputs, window, request.billed)
  const showZero = inputs.platform.invoice_settings.add_zero_meter_value_invoice_lines === true
  const ownRated = own.map(charge => rateCharge(inputs, charge, request.usage))
  const late = rateLateCharges(inputs, request, own)
  const charges = [...own, ...late.rated.map(({ charge }) => charge)]
  const rated = [...ownRated.filter(each => showZero || !isZeroUsage(each)), ...late.rated]
  const onlyAdvance = charges.length > 0 && charges.every(charge => charge.inAdvance)
  const dates = invoiceDates(inputs, window, { onlyAdvance, finalisedAt: request.finalisedAt })
  const tax = invoiceTax(inputs, dates.day)
  const amountType = amountTypeOf(charges)
  const rounding = roundingOf(inputs)
  const amounts = computeAmounts({
    currency: inputs.subscription.billing_currency,
    amountType,
    rounding,
    tax: tax.decision,
    sign: 'INVOICE',
    lines: rated.map(({ charge, quantity }) => ({
      key: charge.key,
      quantity,
      taxCategory: taxCategoryOf(inputs, charge),
    })),
  })
  const findings = [...tax.findings, ...late.findings]
  const printed = printedAmounts(amounts, amountType)
  const all = [...ownRated, ...late.rated]
  const parts = partsOfCharges(request, { rated: all, printed, rounding, ownId: inputs.customer.id })
  const built = columnsOf(inputs, {
    window,
    charges,
    rated,
    dates,
    tax,
    findings,
    amountType,
    rounding,
    amounts,
    parts,
  })
  return { built, counted: countedCharges(all, printed, parts) }
}

/** What late usage asks. What cannot be asked of it is a finding: it must not keep the invoice from asking for the rest. */
function rateLateCharges(
  inputs: BillingInputs,
  { late = [], usage }: InvoiceRequest,
  own: readonly Charge[],
): { readonly rated: readonly RatedCharge[]; readonly findings: readonly TaxFinding[] } {
  const rated: RatedCharge[] = []
  const findings: TaxFinding[] = []
  const rounding = roundingOf(inputs)
  for (const each of late) {
    try {
      const one = rateLate(inputs, each, { usage, rounding })
      if (!one) continue
      amountTypeOf([...own, ...rated.map(({ charge }) => charge), each.charge])
      rated.push(one)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const { charge } = each
      const time = `${formatInstant(charge.service.start)} to ${formatInstant(charge.service.end)}`
      const details = `Late usage of ${charge.productItem.name} (${time}) is not on this invoice: ${error.message}`
      findings.push({ status: 'WARNING', details })
    }
  }
  return { rated, findings }
}

type Computed = {
  readonly window: InvoiceWindow
  readonly charges: readonly Charge[]
  readonly rated: readonly RatedCharge[]
  readonly dates: InvoiceDates
  readonly tax: InvoiceTax
  readonly findings: readonly TaxFinding[]
  readonly amountType: AmountType
  readonly rounding: RoundingMode
  readonly amounts: InvoiceAmounts
  readonly parts: PartsOfCharges | null
}

function columnsOf(inputs: BillingInputs, computed: Computed): BuiltInvoice {
  const { window, charges, dates, amounts } = computed
  const period = periodOf(window)
  return {
    period_start: formatInstant(period.start),
    period_end: formatInstant(period.end),
    advance_only: window.arrears === null,
    cut_at: formatInstant(window.cutAt),
    usage_from: formatInstant(usageFrom(period, charges)),
    invoice_date: dates.invoiceDate,
    delivery_date: dates.deliveryDate,
    due_date: dates.dueDate,
    billing_currency: amounts.currency,
    timezone: zoneOfInputs(inputs),
    amount_excluding_tax: plain(amounts.totals.base.quantity),
    tax_amount: plain(amounts.totals.tax.quantity),
    amount_including_tax: plain(amounts.totals.total.quantity),
    sales_tax_percentage: inputs.subscription.sales_tax_percentage,
    content: contentOf(inputs, computed),
  }
}

function contentOf(inputs: BillingInputs, computed: Computed): InvoiceContent {
  const { customer, billing_entity, subscription, platform } = inputs
  const { window, tax, findings, amounts, amountType, rounding, charges, rated, parts } = computed
  const { footnote } = platform.invoice_settings
  const registration = tax.decision.usedRegistration
  const country = registration ?? billing_entity.registered_address?.country
  return {
    ...(customer.reference === null ? {} : { customer_reference: customer.reference }),
    customer: { object_type: 'CUSTOMER', ...customer },
    billing_entity: { object_type: 'BILLING_ENTITY', ...billing_entity },
    ...(subscription.purchase_order_number === null
      ? {}
      : { purchase_order_number: subscription.purchase_order_number }),
    pricing_plan_subscription_ids: [subscription.id],
    billing_period: { ...subscription.billing_period },
    billing_period_date: formatInstant(window.cutAt),
    pricing_amount_type: amountType,
    rounding_mode: rounding,
    tax_categories: amounts.summaries.map(
      (summary): TaxCategoryView => ({
        base_amount: moneyView(summary.baseAmount),
        tax_amount: moneyView(summary.taxAmount),
        total_amount: moneyView(summary.totalAmount),
        percentage: plain(summary.percentage),
        name: summary.name,
        category: summary.category,
        notes: summary.notes.map(note => note.text),
        rates: summary.rates.map(rate => ({
          name: rate.name,
          percentage: plain(rate.percentage),
          tax_amount: moneyView(rate.taxAmount),
        })),
      }),
    ),
    tax_summary: {
      base_amount: moneyView(amounts.totals.base),
      tax_amount: moneyView(amounts.totals.tax),
      total_amount: moneyView(amounts.totals.total),
      notes: tax.decision.invoiceNotes.map(note => note.text),
      ...(country ? { country_code: country } : {}),
    },
    ...(registration === null ? {} : { used_tax_registration: { country: registration } }),
    notes: tax.decision.invoiceNotes.map(note => note.text),
    ...(footnote ? { footnote } : {}),
    has_usage_based_pricing: charges.some(isMetered),
    validation_result: findings.map(finding => ({ ...finding })),
    ...(parts
      ? {
          display_invoice_sub_lines_per_processing_only_customer: true,
          processing_only_customers: customersOnLines(inputs, rated, parts),
        }
      : {}),
    periods: layOut(inputs, { rated, amounts, rounding, parts }),
    advance_charges: charges.filter(charge => charge.inAdvance).map(charge => charge.key),
  }
}

/** The earliest usage the invoice rates of its own; a pricing period or a state that is carried on may reach back. */
const usageFrom = (period: Interval, charges: readonly Charge[]): Instant =>
  instantOf(
    Math.min(
      period.start,
      ...charges.flatMap(({ usage, late }) => (usage === null || late !== null ? [] : usage.start)),
    ),
  )

/** One invoice is taxed one way: plans that state prices with and without tax cannot share it. */
function amountTypeOf(charges: readonly Charge[]): AmountType {
  const types = new Set(charges.map(charge => charge.plan.amount_type))
  if (types.size > 1) {
    throw new AppError('INVALID_OPERATION', 'One invoice cannot mix plans with prices excluding and including tax.', {
      field: 'amount_type',
    })
  }
  return [...types][0] ?? 'EXCLUDING_TAX'
}

export const roundingOf = ({ platform }: BillingInputs): RoundingMode =>
  platform.rounding_settings.find(setting => setting.rounding_target === 'INVOICE')?.rounding_mode === 'UNROUNDED'
    ? 'UNROUNDED'
    : 'DEFAULT'

/** Item → product → category → platform → STANDARD (semantics 2). */
export function taxCategoryOf({ platform }: BillingInputs, { productItem, product, category }: Charge): TaxCategory {
  const fallback = TAX_CATEGORIES.find(known => known === platform.default_product_tax_category)
  return productItem.tax_category ?? product.tax_category ?? category?.tax_category ?? fallback ?? 'STANDARD'
}
