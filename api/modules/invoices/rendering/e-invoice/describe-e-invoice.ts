// From an invoice to its e-invoice in the terms of EN 16931. Pure: the same invoice gives the same e-invoice.
import { localDateOf, type Zone, zoneOf } from '../../../../../shared/billing/local-days.ts'
import { type Decimal, decimal, ONE, sum, ZERO } from '../../../../../shared/decimal.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { at } from '../../../../../shared/time.ts'
import type { InvoiceView } from '../../schema.ts'
import { isCreditNote } from '../../settlement/settlement.ts'
import { customerOf } from '../model/parties.ts'
import type { Presentation } from '../model/presentation.ts'
import { printable } from '../model/printable.ts'
import { formatsOf } from '../words/formats.ts'
import { localeOf, sentenceIn, wordsOf } from '../words/words.ts'
import { daysOf, eInvoiceLines } from './e-invoice-lines.ts'
import type { Adjustment, EInvoice, EInvoiceLine, EInvoiceTotals, VatRow } from './e-invoice-model.ts'
import { eInvoiceParties } from './e-invoice-parties.ts'
import { printedSummaries, vatOfSummaries, vatRows } from './e-invoice-vat.ts'
import { notExpressible } from './refusal.ts'
import { brokenRules } from './rules.ts'

/**
 * The e-invoice of `invoice`, which must have its lines and, for a credit note, its linked documents. Throws
 * INVALID_OPERATION for an invoice that is not FINAL, and for one that EN 16931 cannot express.
 */
export function describeEInvoice(invoice: InvoiceView, presentation: Presentation): EInvoice {
  const { number, issueDate, zone } = issuedOf(invoice)
  const isCredit = isCreditNote(invoice)
  const sign = isCredit ? ONE.neg() : ONE
  const locale = localeOf(customerOf(invoice).locale)
  const words = wordsOf(locale)
  const { seller, buyer } = eInvoiceParties(invoice)
  const vats = vatOfSummaries(invoice, { seller, buyer, locale })
  const summaries = printedSummaries(invoice)
  const rows = vatRows(summaries, vats, { locale, sign })
  const formats = formatsOf(locale)
  const units = presentation.units
  const { lines, adjustments } = eInvoiceLines(invoice, { words, formats, units, zone, summaries, vats, sign })
  if (lines.length === 0) throw notExpressible('periods', 'it has no lines.')
  const dated = (text: string | null) => (text === null ? null : localDateOf(at(text), zone))
  const totals = totalsOf(invoice, { lines, adjustments, rows, sign })
  const owes = totals.payable.gt(ZERO)
  // Category O excludes the VAT ids of both parties (BR-O-2).
  const withoutVat = rows.some(({ vat }) => vat.category === 'O')
  const party = (of: EInvoice['seller']) => (withoutVat ? { ...of, vatId: null, taxRegistration: null } : of)
  const dueDate = isCredit ? null : dated(invoice.due_date)
  const described: EInvoice = {
    kind: isCredit ? 'CREDIT_NOTE' : 'INVOICE',
    selfBilled: invoice.billing_type === 'SELF_BILLING',
    number,
    issueDate,
    dueDate,
    deliveryDate: dated(invoice.delivery_date) ?? issueDate,
    currency: invoice.billing_currency,
    taxInLocal: localTaxOf(invoice, sign),
    notes: notesOf(invoice, note => sentenceIn(words, note)),
    orderReference: invoice.purchase_order_number ? printable(invoice.purchase_order_number) : null,
    period: periodOf(invoice, zone),
    preceding: precedingOf(invoice, zone),
    seller: party(seller),
    buyer: party(buyer),
    accounts: presentation.payment.flatMap(way =>
      way.kind === 'IBAN' && owes && !isCredit ? [{ iban: way.iban, holder: printable(way.holder), bic: way.bic }] : [],
    ),
    // An amount due needs a due date or terms (BR-CO-25).
    paymentTerms: dueDate === null && owes ? (isCredit ? words.amountCredited : words.amountDue) : null,
    lines,
    adjustments,
    vat: rows,
    totals,
  }
  const [broken] = brokenRules(described)
  if (broken !== undefined) throw notExpressible(broken.field, broken.message)
  return described
}

/** What only an issued invoice has. An invoice that charges nothing is FINAL without a number. */
function issuedOf(invoice: InvoiceView) {
  const { id, status, invoice_number: number, invoice_date: date } = invoice
  if (status !== 'FINAL') {
    const message = `Only a FINAL invoice has an e-invoice; this one is ${status}.`
    throw new AppError('INVALID_OPERATION', message, { field: 'status', resourceId: id, resourceType: 'INVOICE' })
  }
  if (number === null || date === null) {
    throw notExpressible('invoice_number', 'it has no number, because it charges nothing.')
  }
  const zone = zoneOf(invoice.timezone) ?? zoneOf('UTC')
  if (zone === null) throw new Error('UTC is a zone')
  return { number: printable(number), issueDate: localDateOf(at(date), zone), zone }
}

function notesOf(invoice: InvoiceView, inLanguage: (note: string) => string): string[] {
  const texts = [
    ...invoice.notes.map(inLanguage),
    ...(invoice.credit?.note ? [invoice.credit.note] : []),
    ...(invoice.footnote ? [invoice.footnote] : []),
  ]
  return [...new Set(texts.map(printable))].filter(text => text !== '')
}

function localTaxOf({ tax_summary: { local_amounts: local } }: InvoiceView, sign: Decimal): EInvoice['taxInLocal'] {
  if (!local) return null
  return { currency: local.tax_amount.currency, tax: decimal(local.tax_amount.quantity).times(sign) }
}

/** From the first to the last day that the lines are for. */
function periodOf({ periods = [] }: InvoiceView, zone: Zone): EInvoice['period'] {
  const days = periods.map(({ start_at, end_at }) => daysOf(start_at, end_at, zone))
  const [first] = days.map(day => day.first).toSorted()
  const last = days
    .map(day => day.last)
    .toSorted()
    .at(-1)
  return first === undefined || last === undefined ? null : { first, last }
}

function precedingOf({ linked_invoices: links = [], credit }: InvoiceView, zone: Zone): EInvoice['preceding'] {
  const original = credit && links.find(({ id }) => id === credit.original_invoice_id)
  if (!original?.invoice_number) return null
  const date = original.invoice_date === null ? null : localDateOf(at(original.invoice_date), zone)
  return { number: printable(original.invoice_number), date }
}

type Parts = {
  readonly lines: readonly EInvoiceLine[]
  readonly adjustments: readonly Adjustment[]
  readonly rows: readonly VatRow[]
  readonly sign: Decimal
}

/** The printed totals; the rules check that the parts add up to them. */
function totalsOf(invoice: InvoiceView, { lines, adjustments, rows, sign }: Parts): EInvoiceTotals {
  const adjusted = (kind: Adjustment['kind']) =>
    sum(adjustments.filter(each => each.kind === kind).map(({ amount }) => amount))
  const net = decimal(invoice.invoice_amount_excluding_tax.quantity).times(sign)
  const tax = sum(rows.map(({ tax }) => tax))
  const gross = decimal(invoice.invoice_amount_including_tax.quantity).times(sign)
  const prepaid = isCreditNote(invoice) ? ZERO : decimal(invoice.paid_invoice_amount.quantity)
  return {
    lines: sum(lines.map(({ net }) => net)),
    allowances: adjusted('ALLOWANCE'),
    charges: adjusted('CHARGE'),
    net,
    tax,
    gross,
    prepaid,
    payable: gross.minus(prepaid),
  }
}
