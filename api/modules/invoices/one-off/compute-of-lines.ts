// Computes an invoice of draft lines that no subscription bills, whatever made the lines. Pure.
import { dueDate } from '../../../../shared/billing/invoice-dates/due-date.ts'
import { deliveryDate } from '../../../../shared/billing/invoice-dates/invoice-date.ts'
import { localDateOf, startOfLocalDay, type Zone } from '../../../../shared/billing/local-days.ts'
import { at, formatInstant, type Instant, type Interval } from '../../../../shared/time.ts'
import { buildDocument, documentAmounts } from '../document/build-document.ts'
import type { DraftInvoice, DraftLine } from '../document/draft-invoice.ts'
import type { InvoiceDates } from '../document/invoice-dates.ts'
import { type Parties, roundingOf, zoneOfParties } from '../document/parties.ts'
import { invoiceTax } from '../document/tax/invoice-tax.ts'
import { paidBeforeTax } from '../document/wallet-lines.ts'
import type { ComputedInvoice } from '../producer.ts'
import type { CopiedFieldView } from '../schema.ts'
import type { Payers } from '../settlement/funds.ts'
import type { OneOffTerms } from './schema.ts'

/** The current parties of an invoice that no subscription bills. */
export type OneOffParties = { readonly parties: Parties; readonly copiedFields: readonly CopiedFieldView[] }

export type InvoiceOfLines = OneOffParties & {
  readonly terms: OneOffTerms
  readonly lines: readonly DraftLine[]
  /** The time that all lines are for. */
  readonly service: Interval
  /** The wallets that can pay it. */
  readonly payers: Payers
  readonly now: Instant
  /** Null until the invoice becomes FINAL. */
  readonly finalizedAt: Instant | null
}

/** The invoice of these lines, in this order. A producer with lines of its own needs no more than this. */
export function computeOfLines(input: InvoiceOfLines): ComputedInvoice {
  const { parties, copiedFields, terms, lines, service, payers } = input
  const currency = terms.billing_currency
  const dates = datesOf(input, zoneOfParties(parties))
  const unpaid: DraftInvoice = {
    parties,
    currency,
    amountType: 'EXCLUDING_TAX',
    dates,
    purchaseOrderNumber: terms.purchase_order_number,
    salesTaxPercentage: terms.sales_tax_percentage,
    lines,
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
function datesOf({ terms, service, now, finalizedAt }: InvoiceOfLines, zone: Zone): InvoiceDates {
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
        ? instant(deliveryDate(service, zone))
        : instant(localDateOf(at(terms.delivery_date), zone)),
  }
}
