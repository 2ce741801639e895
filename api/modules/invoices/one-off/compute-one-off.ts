// Computes a one-off invoice from its added lines, and nothing else. Pure after loading.
import { dueDate } from '../../../../shared/billing/due-date.ts'
import { deliveryDate } from '../../../../shared/billing/invoice-date.ts'
import { localDateOf, startOfLocalDay, type Zone } from '../../../../shared/billing/local-days.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { at, formatInstant, type Instant, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import { loadNumberFieldsOf } from '../../parties/platforms/number-fields.ts'
import { type AddedLine, draftAddedLine } from '../added-lines/price-added-line.ts'
import { loadCopiedFields } from '../custom-fields/copied-fields.ts'
import { buildDocument, documentAmounts } from '../document/build-document.ts'
import type { DraftInvoice } from '../document/draft-invoice.ts'
import type { InvoiceDates } from '../document/invoice-dates.ts'
import { invoiceTax } from '../document/invoice-tax.ts'
import {
  loadBillingEntity,
  loadCustomer,
  loadInvoicingSettings,
  loadTaxExchange,
  loadTaxRatesOf,
} from '../document/load-parties.ts'
import { defaultTaxCategory, type Parties, roundingOf, zoneOfParties } from '../document/parties.ts'
import { paidBeforeTax } from '../document/wallet-lines.ts'
import type { ComputedInvoice } from '../producer.ts'
import type { CopiedFieldView } from '../schema.ts'
import type { FundsRequest, Payers } from '../settlement/funds.ts'
import type { OneOffTerms } from './schema.ts'

/** The current parties of a one-off invoice. */
export type OneOffParties = { readonly parties: Parties; readonly copiedFields: readonly CopiedFieldView[] }

type Between = {
  readonly customerId: string
  readonly billingEntityId: string
  readonly terms: Pick<OneOffTerms, 'billing_currency' | 'invoice_date'>
}

/** Throws RESOURCE_NOT_FOUND when the tenant has no such customer or billing entity. */
export async function loadOneOffParties(
  uow: ReadUow,
  { customerId, billingEntityId, terms }: Between,
): Promise<OneOffParties> {
  const platform = await loadInvoicingSettings(uow)
  const between = [{ customerId, billingEntityId }]
  const [number_fields = []] = await loadNumberFieldsOf(uow, platform.invoice_settings, between)
  const both = {
    customer: await loadCustomer(uow, customerId),
    billing_entity: await loadBillingEntity(uow, billingEntityId),
  }
  const since = terms.invoice_date === null ? uow.now : instantOf(Math.min(uow.now, at(terms.invoice_date)))
  const invoiced = { ...both, currency: terms.billing_currency, since }
  const taxRates = await loadTaxRatesOf(uow, [invoiced])
  const taxExchange = await loadTaxExchange(uow, [invoiced])
  const parties: Parties = {
    platform,
    ...both,
    ...taxRates(invoiced),
    ...taxExchange(invoiced),
    number_fields,
  }
  const [copiedFields = []] = await loadCopiedFields(uow, [
    [
      { type: 'CUSTOMER', ids: [customerId] },
      { type: 'BILLING_ENTITY', ids: [billingEntityId] },
    ],
  ])
  return { parties, copiedFields }
}

export type OneOffInput = OneOffParties & {
  readonly terms: OneOffTerms
  readonly lines: readonly AddedLine[]
  /** The wallets that can pay it. */
  readonly payers: Payers
  readonly now: Instant
  /** Null until the invoice becomes FINAL. */
  readonly finalizedAt: Instant | null
}

/** The time that the lines are for. */
function serviceOfLines(lines: readonly AddedLine[]): Interval {
  const starts = lines.map(({ line }) => at(line.start_at))
  const ends = lines.map(({ line }) => at(line.end_at))
  return interval(instantOf(Math.min(...starts)), instantOf(Math.max(...ends)))
}

/** What the invoice needs from a purse. */
export const fundsOfOneOff = (
  { parties, terms, lines }: Pick<OneOffInput, 'parties' | 'terms' | 'lines'>,
  invoiceId: string | null,
): FundsRequest => ({
  customerId: parties.customer.id,
  currency: terms.billing_currency,
  invoiceId,
  service: serviceOfLines(lines),
  billingType: 'DEFAULT',
})

/** The invoice of these lines. Throws INVALID_FIELD when a line cannot be billed in its currency. */
export function computeOneOff(input: OneOffInput): ComputedInvoice {
  const { parties, copiedFields, terms, lines, payers } = input
  const currency = terms.billing_currency
  const to = { currency, defaultTaxCategory: defaultTaxCategory(parties) }
  const dates = datesOf(input, zoneOfParties(parties))
  const service = serviceOfLines(lines)
  const unpaid: DraftInvoice = {
    parties,
    currency,
    amountType: 'EXCLUDING_TAX',
    dates,
    purchaseOrderNumber: terms.purchase_order_number,
    salesTaxPercentage: terms.sales_tax_percentage,
    lines: lines.map(line => draftAddedLine(line, to)),
    balances: payers.balances,
    findings: [],
    subscriptionIds: [],
    period: null,
    hasUsage: false,
    copiedFields,
  }
  const draft = {
    ...unpaid,
    lines: paidBeforeTax(unpaid.lines, payers.wallets, {
      currency,
      amountType: unpaid.amountType,
      rounding: roundingOf(parties),
      tax: invoiceTax(unpaid, dates.day).decision,
      zone: zoneOfParties(parties),
      pauses: [],
      invoicePeriod: { service, full: service },
    }),
  }
  const document = buildDocument(draft, documentAmounts(draft), { subLines: new Map(), customers: null })
  return {
    columns: {
      ...document.columns,
      period_start: null,
      period_end: null,
      advance_only: null,
      cutoff_at: null,
      usage_from: null,
    },
    lines: document.lines,
    // One transaction reads and saves it, so no hash is needed.
    inputsHash: '',
    usageCountedUntil: null,
  }
}

/**
 * The given date, or the day on which it becomes FINAL; the due date follows its terms, and delivery is the end of its
 * last line.
 */
function datesOf({ terms, lines, now, finalizedAt }: OneOffInput, zone: Zone): InvoiceDates {
  const known = terms.invoice_date === null ? finalizedAt : at(terms.invoice_date)
  const day = localDateOf(known ?? now, zone)
  const instant = (date: typeof day): string => formatInstant(startOfLocalDay(date, zone))
  const { type, period } = terms.due_date_configuration
  return {
    day,
    invoiceDate: known === null ? null : instant(day),
    dueDate: known === null ? null : instant(dueDate({ type, period: period ?? null }, day)),
    deliveryDate:
      terms.delivery_date === null
        ? instant(deliveryDate(serviceOfLines(lines), zone))
        : instant(localDateOf(at(terms.delivery_date), zone)),
  }
}
