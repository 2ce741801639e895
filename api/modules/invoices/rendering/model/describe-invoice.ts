// From an invoice to its document in the reader's language. Pure: the same invoice gives the same document.
import { lastLocalDay, localDateOf, type Zone, zoneOf } from '../../../../../shared/billing/local-days.ts'
import { type Decimal, decimal, min, plain, sum, ZERO } from '../../../../../shared/decimal.ts'
import { at, type Instant, interval } from '../../../../../shared/time.ts'
import { addressOf } from '../../document/parties.ts'
import type { InvoiceView, TaxCategoryView } from '../../schema.ts'
import { isCreditNote } from '../../settlement/settlement.ts'
import { type Formats, formatsOf } from '../words/formats.ts'
import type { Words } from '../words/table.ts'
import { isSentence, localeOf, sentenceIn, wordsOf } from '../words/words.ts'
import type { DocumentModel, Fact, Section, TaxRow } from './document-model.ts'
import { lineRows } from './line-rows.ts'
import { customerOf, issuerName, partyBlocks } from './parties.ts'
import { accountFacts, epcQrText } from './payment.ts'
import { PLAIN, type Presentation } from './presentation.ts'
import { printable } from './printable.ts'

const ACCENT = '#1f3a5f'
/** Countries that use Letter paper. */
const LETTER = new Set(['US', 'CA', 'MX', 'CL', 'CO', 'CR', 'DO', 'GT', 'NI', 'PA', 'PH', 'PR', 'SV', 'VE'])

type Context = {
  readonly invoice: InvoiceView
  readonly presentation: Presentation
  readonly words: Words
  readonly formats: Formats
  readonly zone: Zone
}

/** The document of `invoice`, which must have its lines; a credit note differs only in its title. */
export function describeInvoice(invoice: InvoiceView, presentation: Presentation = PLAIN): DocumentModel {
  const zone = zoneOf(invoice.timezone) ?? zoneOf('UTC')
  if (zone === null) throw new Error('UTC is a zone')
  const locale = localeOf(customerOf(invoice).locale)
  const words = wordsOf(locale)
  const formats = formatsOf(locale)
  const context = { invoice, presentation, words, formats, zone }
  const heading = headingOf(invoice, words)
  const number = invoice.invoice_number === null ? null : printable(invoice.invoice_number)
  return {
    locale: locale.tag,
    title: number === null ? `${words.draft}: ${heading}` : `${heading} ${number}`,
    heading,
    number,
    stamp: stampOf(invoice, words),
    accentColor: presentation.accentColor ?? ACCENT,
    logo: presentation.logo,
    pageSize: LETTER.has(addressOf(customerOf(invoice))?.country ?? '') ? 'LETTER' : 'A4',
    issuer: issuerName(invoice),
    ...partyBlocks(invoice, context),
    facts: factsOf(context),
    due: dueOf(context),
    columns: [words.description, words.quantity, words.unitPrice, words.amount],
    sections: sectionsOf(context),
    nothingCharged: words.nothingCharged,
    totals: totalsOf(context),
    taxHead: { title: words.taxSummary, columns: [words.tax, words.rate, words.taxable, words.taxAmount] },
    taxes: invoice.tax_categories.map(tax => taxRow(tax, context)),
    payment: paymentOf(context),
    scanToPay: words.scanToPay,
    notes: notesOf(context),
    continued: words.continued,
    pageOf: words.pageOf,
    createdAt: new Date(at(invoice.updated_to_final_at ?? invoice.updated_at)),
  }
}

/** An invoice that the buyer issues has to say so (Article 226 (10a) of Council Directive 2006/112/EC), and so do its credit notes. */
function headingOf(invoice: InvoiceView, words: Words): string {
  const kind = isCreditNote(invoice) ? words.creditNote : words.invoice
  if (invoice.billing_type !== 'SELF_BILLING') return kind
  return isCreditNote(invoice) ? `${kind} (${words.selfBilling})` : words.selfBilling
}

function stampOf({ status, paid }: InvoiceView, words: Words): DocumentModel['stamp'] {
  if (status === 'VOID' || status === 'ARCHIVED') return { kind: 'VOID', text: words.void }
  if (status !== 'FINAL') return { kind: 'DRAFT', text: words.draft }
  return paid ? { kind: 'PAID', text: words.paid } : null
}

const dayOf = (text: string, { formats, zone }: Context): string => formats.date(localDateOf(at(text), zone))

function factsOf(context: Context): Fact[] {
  const { invoice, words } = context
  const { invoice_date: date, due_date: due, purchase_order_number: order } = invoice
  const service = servicePeriod(context)
  return [
    ...(date === null ? [] : [{ label: words.invoiceDate, value: dayOf(date, context) }]),
    ...(due === null || isCreditNote(invoice) ? [] : [{ label: words.dueDate, value: dayOf(due, context) }]),
    ...(service === null ? [] : [{ label: words.servicePeriod, value: service }]),
    ...(order ? [{ label: words.purchaseOrder, value: printable(order) }] : []),
  ]
}

/** From the first to the last day that the lines are for. */
function servicePeriod(context: Context): string | null {
  const periods = context.invoice.periods ?? []
  if (periods.length === 0) return null
  const starts = periods.map(({ start_at }) => at(start_at))
  const ends = periods.map(({ end_at }) => at(end_at))
  return daysText(starts.toSorted((a, b) => a - b)[0], ends.toSorted((a, b) => b - a)[0], context)
}

function daysText(start: Instant | undefined, end: Instant | undefined, { formats, zone }: Context): string | null {
  if (start === undefined || end === undefined) return null
  const first = localDateOf(start, zone)
  const last = end > start ? lastLocalDay(interval(start, end), zone) : first
  return formats.days(first, last)
}

function dueOf({ invoice, words, formats }: Context): Fact | null {
  if (isCreditNote(invoice)) {
    return { label: words.amountCredited, value: formats.money(invoice.invoice_amount_including_tax) }
  }
  return { label: words.amountDue, value: formats.money(invoice.open_invoice_amount) }
}

/** The heading of groups without a pricing. */
const titlesOf = (words: Context['words']): Readonly<Record<string, string>> => ({
  DISCOUNT: words.discount,
  COMMITMENT: words.minimum,
  MARKUP: words.markup,
})

function sectionsOf(context: Context): Section[] {
  const { invoice, words, formats, presentation } = context
  return (invoice.periods ?? []).flatMap(period =>
    period.groups.map((group): Section => {
      const products = group.products.map(({ name }) => name)
      const title = titlesOf(words)[group.type] ?? [group.description, ...products].join(' · ')
      return {
        title: printable(title),
        period: daysText(at(group.start_at), at(group.end_at), context) ?? '',
        rows: (group.lines ?? []).flatMap(line => lineRows(line, { words, formats, units: presentation.units })),
      }
    }),
  )
}

function totalsOf({ invoice, words, formats }: Context): DocumentModel['totals'] {
  const { base_amount: base, total_amount: total } = invoice.tax_summary
  const paid = invoice.paid_invoice_amount
  const due = isCreditNote(invoice)
    ? []
    : [{ label: words.amountDue, value: formats.money(invoice.open_invoice_amount) }]
  return [
    { label: words.totalExcludingTax, value: formats.money(base), strong: false },
    ...invoice.tax_categories.map(tax => ({
      label: taxLabel(tax, { words, formats }),
      value: formats.money(tax.tax_amount),
      strong: false,
    })),
    { label: words.total, value: formats.money(total), strong: true },
    ...paidParts(invoice).map(([name, quantity]) => ({
      label: words[name],
      value: formats.money({ quantity: plain(quantity), currency: paid.currency }),
      strong: false,
    })),
    ...due.map(fact => ({ ...fact, strong: true })),
  ]
}

/** What is paid: by wallets after tax, and otherwise. */
function paidParts(invoice: InvoiceView): (readonly ['paidFromBalance' | 'paidAmount', Decimal])[] {
  const paid = decimal(invoice.paid_invoice_amount.quantity)
  const used = sum(
    (invoice.wallet_balances ?? []).map(({ used_balance: { amount } }) => decimal(amount?.quantity ?? '0')),
  )
  const fromBalance = min(used, paid)
  const parts = [
    ['paidFromBalance', fromBalance],
    ['paidAmount', paid.minus(fromBalance)],
  ] as const
  return parts.filter(([, quantity]) => !quantity.eq(ZERO))
}

type Wording = Pick<Context, 'words' | 'formats'>

function taxName({ name, notes }: TaxCategoryView, words: Words): string {
  if (notes.some(note => isSentence('REVERSE_CHARGE', note))) return words.reverseCharge
  return name === 'No tax' ? words.noTax : name === 'Exempt' ? words.exempt : printable(name)
}

const taxLabel = (tax: TaxCategoryView, { words, formats }: Wording): string =>
  `${taxName(tax, words)} ${formats.number(tax.percentage)} %`

/** The tax in the currency of the tax authority, with the rate by which it is stated. */
function localNote({ local_amounts: local }: TaxCategoryView, { words, formats }: Wording): string[] {
  if (!local?.display) return []
  const { base_currency, currency, rate, rate_timestamp, source } = local.used_exchange_rate
  const used = `${formats.money({ quantity: '1', currency: base_currency })} = ${formats.number(rate)} ${currency}`
  const text = words.inTaxCurrency(formats.money(local.base_amount), formats.money(local.tax_amount))
  return [printable(`${text} (${used}; ${source}, ${rate_timestamp.slice(0, 10)})`)]
}

/** One row per category, with the sentence that gives the reason; several authorities are named with their parts. */
function taxRow(tax: TaxCategoryView, { words, formats }: Wording): TaxRow {
  const parts =
    tax.rates.length < 2
      ? []
      : tax.rates.map(
          rate => `${printable(rate.name)} ${formats.number(rate.percentage)} %: ${formats.money(rate.tax_amount)}`,
        )
  return {
    name: taxName(tax, words),
    rate: `${formats.number(tax.percentage)} %`,
    taxable: formats.money(tax.base_amount),
    amount: formats.money(tax.tax_amount),
    notes: [
      ...parts,
      ...localNote(tax, { words, formats }),
      ...tax.notes.map(note => printable(sentenceIn(words, note))),
    ],
  }
}

/** No payment instructions for what is not owed: drafts, void and paid invoices and credit notes show no account. */
function paymentOf({ invoice, presentation, words }: Context): DocumentModel['payment'] {
  const open = invoice.open_invoice_amount
  const owed = invoice.status === 'FINAL' && !isCreditNote(invoice) && decimal(open.quantity).gt(ZERO)
  const reference = invoice.invoice_number
  if (!owed || reference === null) return { title: words.payment, accounts: [], links: [] }
  const payment = { ...open, reference }
  const labels = { holder: words.accountHolder, reference: words.paymentReference }
  return {
    title: words.payment,
    accounts: presentation.payment.flatMap(account =>
      account.kind === 'IBAN'
        ? [
            {
              facts: accountFacts(account, labels, reference).map(({ label, value }) => ({
                label,
                value: printable(value),
              })),
              qr: epcQrText(account, payment),
            },
          ]
        : [],
    ),
    links: presentation.payment.flatMap(way =>
      way.kind === 'LINK' ? [{ label: words.payOnline, value: way.url }] : [],
    ),
  }
}

/** What the invoice says besides its figures, each once; without what the tax summary already says. */
function notesOf({ invoice, words }: Context): string[] {
  const ofTaxes = new Set(invoice.tax_categories.flatMap(tax => tax.notes))
  const texts = [
    ...invoice.notes.filter(note => !ofTaxes.has(note)).map(note => sentenceIn(words, note)),
    ...(invoice.footnote ? [invoice.footnote] : []),
  ]
  return [...new Set(texts)].map(printable)
}
