// From terms and usage to an invoice, step by step: charges, their amounts, draft lines, and the document (semantics
// 5.3, 5.4). Pure: the same inputs give the same invoice, byte for byte.
import type { AmountType } from '../../../../shared/billing/amount-pipeline.ts'
import { NO_CLAUSES, type WalletBalance } from '../../../../shared/billing/steps/clauses.ts'
import type { Line } from '../../../../shared/billing/steps/line.ts'
import type { CreditPart } from '../../../../shared/billing/wallets/credits.ts'
import { AppError } from '../../../../shared/errors.ts'
import { isInCredits } from '../../../../shared/rating/credits.ts'
import { formatInstant, type Instant, type Interval, instantOf } from '../../../../shared/time.ts'
import { type AddedLine, draftAddedLine } from '../../invoices/added-lines/price-added-line.ts'
import type { ChargeGrant } from '../../invoices/charge-grants.ts'
import {
  type BesideLines,
  buildDocument,
  type DocumentAmounts,
  documentAmounts,
} from '../../invoices/document/build-document.ts'
import type { DraftInvoice, Finding } from '../../invoices/document/draft-invoice.ts'
import { type InvoiceDates, invoiceDates } from '../../invoices/document/invoice-dates.ts'
import { invoiceTax } from '../../invoices/document/invoice-tax.ts'
import { defaultTaxCategory, roundingOf, zoneOfParties } from '../../invoices/document/parties.ts'
import type { PrepaidBalance } from '../../invoices/document/pay-from-balances.ts'
import { withPayments } from '../../invoices/document/wallet-lines.ts'
import type { LineValues } from '../../invoices/lines/table.ts'
import type { InvoiceColumns } from '../../invoices/table.ts'
import { pausesIn } from '../../subscriptions/ending/inactive-periods.ts'
import { type Charge, chargesOf, fullPeriodOf, paidAhead } from '../charges/charges.ts'
import { grantsOfCharges } from '../grants/grants-of-charges.ts'
import type { ClosedCharge } from '../late/closed-usage.ts'
import type { LateCharge } from '../late/late-usage.ts'
import { clauseLines, earlierLines, withDeductions } from '../rating/clause-lines.ts'
import { clausesOf } from '../rating/clauses-of.ts'
import { countingCoupons, couponDiscounts } from '../rating/coupon-clauses.ts'
import { creditsToSell, lateInCredits, rateInCredits } from '../rating/credit-charges.ts'
import { draftLine } from '../rating/draft-line.ts'
import { type ExchangeOf, exchangesOn, staleRates, withExchange } from '../rating/exchange.ts'
import { lacksRate, staleUsageRates, withoutUnpriced } from '../rating/foreign-usage.ts'
import { freeUsageOf } from '../rating/free-usage.ts'
import { isZeroUsage, type RatedCharge, rateCharge, rateLate } from '../rating/rate-charge.ts'
import { refundedTerm, refundLines } from '../refunds/refund-lines.ts'
import type { Refund } from '../refunds/refunds.ts'
import { partsOfCharges } from '../shares/customer-parts.ts'
import { customersOnLines } from '../shares/customer-sub-lines.ts'
import { subLinesOf } from '../shares/sub-lines.ts'
import { type BillingInputs, usingCustomer } from '../terms/billing-inputs.ts'
import { billingTypeOf } from '../terms/billing-type.ts'
import { isMetered, type PriceTerm } from '../terms/price-terms.ts'
import { advanceScan, type InvoiceWindow, periodOf } from '../terms/windows.ts'
import type { CustomerFigures, UsageFigures } from '../usage/usage-needs.ts'
import { countedCharges } from './counted-charges.ts'
import { advanceChargesIn, type PeriodColumns } from './subscription-invoices.ts'

export type InvoiceRequest = {
  readonly terms: readonly PriceTerm[]
  readonly window: InvoiceWindow
  /** Keys of advance charges that other invoices of the subscription bill, and of minimums that they reach ahead. */
  readonly billed: ReadonlySet<string>
  readonly usage: UsageFigures
  /** The same by customer, when usage lines show each customer's part. */
  readonly usageByCustomer?: CustomerFigures | null
  /** Time of closed invoices with usage that they did not count. */
  readonly late?: readonly LateCharge[]
  /** The refunds on this invoice of what earlier invoices charged ahead. */
  readonly refunds?: readonly Refund[]
  /** The wallets that can pay it before tax. */
  readonly wallets?: readonly WalletBalance[]
  /** What is left of the grants of credits that usage on it may draw from, in spending order. */
  readonly credits?: readonly CreditPart[]
  /** The wallets that can pay it after tax. */
  readonly balances?: readonly PrepaidBalance[]
  /** Lines that users added. */
  readonly added?: readonly AddedLine[]
  /** What is bought on demand: the invoice charges this instead of its period. */
  readonly bought?: readonly Charge[]
  /** Whether usage that no exchange rate converts is left out and keeps it DRAFT; it is refused otherwise. */
  readonly mayLackRates?: true
  /** Null until the invoice becomes FINAL. */
  readonly finalizedAt: Instant | null
}

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
export function priceInvoice(inputs: BillingInputs, request: InvoiceRequest): PricedInvoice {
  const part = priceBeforeDocument(inputs, request)
  const document = buildDocument(part.draft, part.amounts, part.beside)
  return {
    columns: { ...document.columns, ...part.period },
    lines: document.lines,
    grants: part.grants,
    advanceCharges: advanceChargesIn(document.lines),
    counted: part.counted,
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
export function priceBeforeDocument(inputs: BillingInputs, request: InvoiceRequest): InvoiceBeforeDocument {
  const { rated, draft, amounts } = priceParts(inputs, request)
  const shares = inputs.subscription.display_invoice_sub_lines_per_processing_only_customer
  const parts = partsOfCharges(shares ? request : {}, {
    rated: rated.all.filter(({ credits }) => !credits),
    printed: amounts.printed,
    rounding: amounts.rounding,
    ownId: usingCustomer(inputs).id,
  })
  const shared = { parts, show: amounts.show }
  return {
    draft,
    amounts,
    beside: {
      subLines: new Map(rated.onInvoice.map(each => [each.charge.key, subLinesOf(inputs, each, shared)])),
      customers: parts && customersOnLines(inputs, rated.onInvoice, parts),
    },
    period: periodColumns(request.window, rated.charges),
    grants: grantsOfCharges(inputs, request, { rated: rated.all, printed: amounts.printed }),
    counted: countedCharges(rated.all, amounts.printed, parts),
    rated: rated.all,
  }
}

/** How the amounts of an invoice come about, before the document is laid out. */
export type PriceParts = {
  readonly rated: RatedInvoice
  readonly draft: DraftInvoice
  readonly amounts: DocumentAmounts
  /** Every line with what clauses and wallets did to it; empty where there are no clauses. */
  readonly steps: readonly Line[]
}

/** The same steps as in `priceInvoice`, with their intermediate results. */
export function priceParts(inputs: BillingInputs, given: InvoiceRequest): PriceParts {
  const { terms, window, billed, bought, late = [] } = given
  const charges = bought ?? chargesOf(terms, window, billed)
  const { usage, findings: unpriced } = given.mayLackRates
    ? withoutUnpriced(given.usage, charges)
    : { usage: given.usage, findings: [] }
  const request = { ...given, usage }
  const dates = datesOf(inputs, request, [...charges, ...late.map(({ charge }) => charge)])
  const exchangeOf = exchangesOn(inputs, { day: dates.day, zone: zoneOfParties(inputs) })
  const own = charges.map(charge => withExchange(charge, exchangeOf))
  const rated = rateAll(inputs, request, own)
  const used = rated.onInvoice.flatMap(({ charge }) => (charge.late || !charge.exchange ? [] : charge.exchange))
  const findings = [
    ...unpriced,
    ...rated.findings,
    ...staleRates(used, { day: dates.day, zone: zoneOfParties(inputs) }),
    ...staleUsageRates(rated.all.flatMap(({ exchange }) => exchange?.stale ?? [])),
  ]
  const before = { rated: rated.all, draft: draftOf(inputs, request, { ...rated, findings }), exchangeOf }
  const { draft, steps } = withClauses(inputs, request, before)
  return { rated, draft, amounts: documentAmounts(draft), steps }
}

type RatedInvoice = {
  readonly charges: readonly Charge[]
  /** Every charge, including those without a line. */
  readonly all: readonly RatedCharge[]
  readonly onInvoice: readonly RatedCharge[]
  readonly findings: readonly Finding[]
}

function rateAll(inputs: BillingInputs, request: InvoiceRequest, own: readonly Charge[]): RatedInvoice {
  const late = rateLateCharges(inputs, request, own)
  const inCredits = rateInCredits(own, late.inCredits, request.credits ?? [], {
    usage: request.usage,
    usageByCustomer: request.usageByCustomer ?? null,
    ownId: usingCustomer(inputs).id,
  })
  const toSell = creditsToSell(own, inCredits)
  const ownRated = own.map(
    charge =>
      inCredits.get(charge.key) ?? rateCharge(charge, request.usage, roundingOf(inputs), toSell.get(charge.key)),
  )
  const lateRated = [...late.rated, ...late.inCredits.flatMap(({ charge }) => inCredits.get(charge.key) ?? [])]
  const showZero = inputs.platform.invoice_settings.add_zero_meter_value_invoice_lines === true
  return {
    charges: [...own, ...lateRated.map(({ charge }) => charge)],
    all: [...ownRated, ...lateRated],
    onInvoice: [...ownRated.filter(each => showZero || !isZeroUsage(each)), ...lateRated],
    findings: late.findings,
  }
}

/**
 * The amounts of late usage. Late usage that cannot be billed becomes a finding: it must not keep the invoice from
 * billing the rest, and a missing exchange rate keeps it DRAFT.
 */
function rateLateCharges(
  inputs: BillingInputs,
  { late = [], usage }: InvoiceRequest,
  own: readonly Charge[],
): {
  readonly rated: readonly RatedCharge[]
  /** Those priced in credits, which are rated with the other usage that draws credits. */
  readonly inCredits: readonly LateCharge[]
  readonly findings: readonly Finding[]
} {
  const rated: RatedCharge[] = []
  const inCredits: LateCharge[] = []
  const findings: Finding[] = []
  const rounding = roundingOf(inputs)
  for (const each of late) {
    try {
      const drawsCredits = isInCredits(each.charge.config)
      const one = drawsCredits ? null : rateLate(each, { usage, rounding })
      if (drawsCredits ? lateInCredits(each, usage) === null : one === null) continue
      amountTypeOf([...own, ...[...rated, ...inCredits].map(({ charge }) => charge), each.charge])
      if (one) rated.push(one)
      else inCredits.push(each)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const { charge } = each
      const time = `${formatInstant(charge.service.start)} to ${formatInstant(charge.service.end)}`
      const details = `Late usage of ${charge.productItem.name} (${time}) is not on this invoice: ${error.message}`
      // Usage without a rate is billed once there is one: the invoice waits for it, as for usage of its own period.
      findings.push({ status: lacksRate(charge, usage) ? 'ERROR' : 'WARNING', details })
    }
  }
  return { rated, inCredits, findings }
}

/** The dates of an invoice with these charges; the day also selects the rates of exchange. */
function datesOf(
  inputs: BillingInputs,
  { window, finalizedAt }: Pick<InvoiceRequest, 'window' | 'finalizedAt'>,
  charges: readonly Charge[],
): InvoiceDates {
  const onlyAdvance = window.advance !== null && charges.length > 0 && charges.every(({ inAdvance }) => inAdvance)
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

function draftOf(inputs: BillingInputs, request: InvoiceRequest, rated: RatedInvoice): DraftInvoice {
  const { terms, window, refunds = [], added = [], balances = [], bought } = request
  const { subscription, platform, customer, billing_entity, number_fields, tax_rates, tax_exchange_rates } = inputs
  const rates = { ...(tax_rates ? { tax_rates } : {}), ...(tax_exchange_rates ? { tax_exchange_rates } : {}) }
  const { charges } = rated
  const dates = datesOf(inputs, request, charges)
  const to = { currency: subscription.billing_currency, defaultTaxCategory: defaultTaxCategory(inputs) }
  return {
    parties: { platform, customer, billing_entity, number_fields, ...rates },
    currency: subscription.billing_currency,
    amountType: amountTypeOf([...charges, ...refunds.map(refund => refundedTerm(terms, refund))]),
    dates,
    purchaseOrderNumber: subscription.purchase_order_number,
    salesTaxPercentage: subscription.sales_tax_percentage,
    billingType: billingTypeOf(inputs),
    lines: [
      ...rated.onInvoice.map(draftLine),
      ...refundLines(inputs, terms, refunds),
      ...added.map(line => draftAddedLine(line, to)),
    ],
    balances: balances.map(each => ({ ...each, except: linesThatFill(rated.all, each.walletTypeId) })),
    findings: rated.findings,
    subscriptionIds: [subscription.id],
    ...(inputs.forwarded_from ? { forwardedFrom: inputs.forwarded_from } : {}),
    period: bought ? null : { length: subscription.billing_period, cutoffAt: window.cutoffAt },
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

/** The keys of charges that grant to wallets of this type: such a wallet does not pay for what fills it. */
export const linesThatFill = (rated: readonly RatedCharge[], walletTypeId: string | undefined): ReadonlySet<string> =>
  new Set(
    rated.flatMap(({ charge: { key, config } }) =>
      config.wallet_grants?.some(({ wallet_type_id }) => wallet_type_id === walletTypeId) ? [key] : [],
    ),
  )

/** The draft with the lines that clauses make. Every charge counts, including those without a line. */
function withClauses(
  inputs: BillingInputs,
  { terms, window, billed, usage, wallets = [], late = [] }: InvoiceRequest,
  {
    rated,
    draft,
    exchangeOf,
  }: { readonly rated: readonly RatedCharge[]; readonly draft: DraftInvoice; readonly exchangeOf: ExchangeOf },
): Pick<PriceParts, 'draft' | 'steps'> {
  const all = clausesOf(inputs.schedules, terms, exchangeOf)
  // An invoice that collects no period has no minimum of its own.
  const ofSchedules =
    window.arrears === null && all !== NO_CLAUSES
      ? { ...all, commitments: all.commitments.filter(({ of }) => of !== null) }
      : all
  const chargesAhead = rated.some(({ charge }) => charge.inAdvance)
  const coupons = countingCoupons(inputs, { terms, window, chargesAhead })
  if (ofSchedules === NO_CLAUSES && wallets.length === 0 && coupons.length === 0) return { draft, steps: [] }
  const discounts = [...ofSchedules.discounts, ...couponDiscounts(coupons, terms, exchangeOf)]
  const freeUsage = freeUsageOf(coupons, rated, { usage, rounding: roundingOf(inputs) })
  const service = periodOf(window)
  const context = {
    currency: draft.currency,
    amountType: draft.amountType,
    rounding: roundingOf(inputs),
    tax: invoiceTax(draft, draft.dates.day).decision,
    zone: zoneOfParties(inputs),
    pauses: pausesIn(inputs.subscription.inactive_periods),
    invoicePeriod: { service, full: fullPeriod(rated, service) },
  }
  const isCommitted = ofSchedules.commitments.length > 0
  // What earlier invoices charged ahead counts towards the commitment for its time.
  const earlier = isCommitted ? paidAhead(terms, advanceScan(window), billed) : []
  const ratedBefore = [
    ...earlier.map(charge => rateCharge(withExchange(charge, exchangeOf), usage, context.rounding)),
    ...(isCommitted ? billedOfLate(rated, late) : []),
  ]
  const billedBefore = earlierLines(ratedBefore, ofSchedules, context)
  const paying = wallets.map(each => ({ ...each, except: linesThatFill(rated, each.walletTypeId) }))
  const clauses = { ...ofSchedules, discounts, freeUsage, wallets: paying, billedBefore, minimumsBefore: billed }
  const period = inputs.subscription.billing_period
  const beside = draft.lines.filter(({ source }) => 'added_line' in source || 'refund_of_invoice_id' in source)
  const { lines, deducted, steps } = clauseLines(rated, { beside, clauses, context, period, coupons })
  return { draft: { ...draft, lines: withPayments(withDeductions([...draft.lines, ...lines], deducted)) }, steps }
}

/** What closed invoices billed of the time of late usage, as the charges that they were. */
const billedOfLate = (rated: readonly RatedCharge[], late: readonly LateCharge[]): RatedCharge[] =>
  rated.flatMap(each => {
    const unit = late.find(({ charge }) => charge.key === each.charge.key)?.unit
    if (!unit || !each.before) return []
    const charge = {
      ...each.charge,
      key: unit.unit,
      late: null,
      period: { ...each.charge.period, full: fullPeriodOf(each.charge) },
    }
    return [{ ...each, charge, metered: each.before.volume, exact: unit.exact, quantity: unit.printed, before: null }]
  })

/** The whole period that the invoice collects; a subscription that starts or ends in it covers a part. */
const fullPeriod = (rated: readonly RatedCharge[], { start, end }: Interval): Interval =>
  rated.find(
    ({ charge: { inAdvance, period } }) => !inAdvance && period.covered.start === start && period.covered.end === end,
  )?.charge.period.full ?? { start, end }

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

/** One invoice is taxed one way: plans with prices including tax and excluding tax cannot share it. */
function amountTypeOf(charges: readonly Pick<Charge, 'plan'>[]): AmountType {
  const types = new Set(charges.map(charge => charge.plan.amount_type))
  if (types.size > 1) {
    throw new AppError('INVALID_OPERATION', 'One invoice cannot mix plans with prices excluding and including tax.', {
      field: 'amount_type',
    })
  }
  return [...types][0] ?? 'EXCLUDING_TAX'
}
