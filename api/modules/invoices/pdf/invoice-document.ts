// What stands on the PDF of an invoice, as a pdfmake document. Pure: the same invoice gives the same document.
import type { Content, TableCell, TDocumentDefinitions } from 'pdfmake/interfaces.js'
import { lastLocalDay, localDateOf, type Zone, zoneOf } from '../../../../shared/billing/periods.ts'
import { at, interval } from '../../../../shared/time.ts'
import type { TaxIdType } from '../../parties/tax-ids/schema.ts'
import type { HasTaxIds } from '../../parties/tax-ids/with-checks.ts'
import {
  type AddressInput,
  addressOf,
  type BillingEntityInput,
  type CustomerInput,
  customerName,
} from '../document/parties.ts'
import type { InvoiceView, LineView, MoneyView, PriceDetailsView } from '../schema.ts'

const TEXT_LENGTH_MAX = 400

/**
 * Text a tenant chose, made safe to lay out: no control or invisible characters (which could reverse or hide what is
 * read), bounded, in one line.
 */
export function printable(text: string): string {
  const clean = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu, '')
    .trim()
  const characters = [...clean]
  return characters.length > TEXT_LENGTH_MAX ? `${characters.slice(0, TEXT_LENGTH_MAX).join('')}…` : clean
}

const money = ({ quantity, currency }: MoneyView): string => `${quantity} ${currency}`

/** The document's heading: its number, or that it is none yet. */
export const titleOf = (invoice: InvoiceView): string =>
  invoice.invoice_number === null ? `Draft invoice (${invoice.status})` : `Invoice ${printable(invoice.invoice_number)}`

/** The whole document of `invoice`, which must have its lines. `compress` is off in tests, to read the text back. */
export function invoiceDocument(invoice: InvoiceView, compress = true): TDocumentDefinitions {
  const zone = zoneOf(invoice.timezone) ?? zoneOf('UTC')
  if (zone === null) throw new Error('UTC is a zone')
  const title = titleOf(invoice)
  return {
    compress,
    pageSize: 'A4',
    pageMargins: [40, 48, 40, 56],
    // The time of the document, not of the rendering: the same invoice is the same file.
    info: { title, creationDate: new Date(at(invoice.updated_to_final_at ?? invoice.updated_at)) },
    defaultStyle: { fontSize: 9, lineHeight: 1.2 },
    styles: { title: { fontSize: 18, bold: true }, head: { bold: true }, small: { fontSize: 8, color: '#555555' } },
    footer: (page, pages) => ({
      text: `${title} · ${page} / ${pages}`,
      style: 'small',
      alignment: 'center',
      margin: [0, 16, 0, 0],
    }),
    content: [
      { text: title, style: 'title', margin: [0, 0, 0, 12] },
      parties(invoice),
      dates(invoice, zone),
      linesTable(invoice, zone),
      totals(invoice),
      ...notes(invoice),
    ],
  }
}

function parties(invoice: InvoiceView): Content {
  // The snapshots hold what the inputs held when the invoice was computed.
  const entity = invoice.billing_entity as unknown as BillingEntityInput
  const customer = invoice.customer as unknown as CustomerInput
  const { organization } = customer
  const seller = [
    entity.legal_name ?? entity.reference,
    ...addressLines(entity.registered_address),
    ...taxIdLines(entity),
    ...registrationLines(invoice),
    ...copiedFieldLines(invoice, ['BILLING_ENTITY']),
  ]
  const buyer = [
    customerName(customer),
    ...addressLines(addressOf(customer)),
    ...taxIdLines(organization),
    labelled('Purchase order', invoice.purchase_order_number),
    ...copiedFieldLines(invoice, ['CUSTOMER', 'PRICING_PLAN_SUBSCRIPTION']),
  ]
  return { columns: [block('From', seller), block('To', buyer)], columnGap: 24, margin: [0, 0, 0, 12] }
}

const block = (head: string, lines: readonly (string | null | undefined)[]): Content => ({
  stack: [{ text: head, style: 'head' }, ...lines.filter(line => !!line).map(line => printable(line ?? ''))],
})
const labelled = (label: string, value: string | null | undefined): string | null =>
  value ? `${label}: ${value}` : null

const TAX_ID_NAMES: Readonly<Record<TaxIdType, string>> = {
  GENERIC_TAX_ID: 'Tax id',
  AU_GST: 'ABN',
  CA_GST_HST: 'GST/HST',
  CA_PST: 'PST',
  CA_PST_BC: 'PST (BC)',
  CA_PST_MB: 'RST (MB)',
  CA_PST_SK: 'PST (SK)',
  CA_QST: 'QST',
}

const taxIdLines = (company: Pick<HasTaxIds, 'tax_id' | 'tax_ids'> | null): (string | null)[] => [
  labelled(TAX_ID_NAMES.GENERIC_TAX_ID, company?.tax_id),
  ...(company?.tax_ids ?? []).map(({ id, type, display_name }) => labelled(display_name ?? TAX_ID_NAMES[type], id)),
]

/** The ids of the registration whose country's tax is charged. */
function registrationLines({ used_tax_registration: used }: InvoiceView): (string | null)[] {
  if (!used) return []
  return taxIdLines(used).flatMap(line => (line === null ? [] : `${used.country} ${line}`))
}

/** Custom fields of the parties that are for the reader of the invoice. */
const copiedFieldLines = ({ other_custom_fields = [] }: InvoiceView, types: readonly string[]): (string | null)[] =>
  other_custom_fields
    .filter(({ resource }) => types.includes(resource.type))
    .map(({ name, reference, value, values = [] }) => labelled(name ?? reference, value ?? values.join(', ')))

function addressLines(address: AddressInput | null): (string | null)[] {
  if (!address) return []
  const town = [address.postal_code, address.city].filter(part => !!part).join(' ')
  const region = [address.state, address.country].filter(part => !!part).join(', ')
  return [address.line1 ?? null, address.line2 ?? null, town, region]
}

function dates(invoice: InvoiceView, zone: Zone): Content {
  const day = (text: string | null): string => (text === null ? '—' : localDateOf(at(text), zone))
  const facts = [
    ['Invoice date', day(invoice.invoice_date)],
    ['Due date', day(invoice.due_date)],
    ['Service until', day(invoice.delivery_date)],
    ['Currency', invoice.billing_currency],
  ]
  return {
    columns: facts.map(([name, value]): Content => ({ stack: [{ text: name ?? '', style: 'small' }, value ?? ''] })),
    margin: [0, 0, 0, 12],
  }
}

function linesTable(invoice: InvoiceView, zone: Zone): Content {
  const body: TableCell[][] = [
    ['Description', 'Quantity', 'Price', 'Amount'].map((text, index) => ({
      text,
      style: 'head',
      alignment: index === 0 ? 'left' : 'right',
    })),
  ]
  for (const period of invoice.periods ?? []) {
    const service = interval(at(period.start_at), at(period.end_at))
    const days = `${localDateOf(service.start, zone)} – ${lastLocalDay(service, zone)}`
    body.push([{ text: days, style: 'small', colSpan: 4 }, '', '', ''])
    for (const group of period.groups) for (const line of group.lines ?? []) body.push(...lineRows(line))
  }
  if (body.length === 1) body.push([{ text: 'Nothing is charged.', colSpan: 4 }, '', '', ''])
  return {
    table: { headerRows: 1, widths: ['*', 90, 110, 90], body },
    layout: 'lightHorizontalLines',
    margin: [0, 0, 0, 12],
  }
}

function lineRows(line: LineView): TableCell[][] {
  const rows = [headRow(line)]
  for (const sub of line.sub_lines ?? [])
    rows.push(row(`   ${printable(sub.description)}`, sub.details, sub.details.amount, 'small'))
  const explained = line.details.description
  // Bands are explained by their sub lines; who used how much explains no price.
  const byBand = line.sub_lines?.some(sub => sub.processing_only_customer_id === undefined) === true
  if (!byBand && explained !== '') rows.push([{ text: printable(explained), style: 'small', colSpan: 4 }, '', '', ''])
  return rows
}

/** What is not charged has no quantity. */
function headRow(line: LineView): TableCell[] {
  const cells = row(printable(line.description), printedDetails(line), line.amount_excluding_tax)
  return line.type === 'REVENUE' ? cells : cells.toSpliced(1, 1, '')
}

/** With the quantity that the line bills: details may explain it by that of a longer time. */
const printedDetails = ({ details, meter_value: billed }: LineView): PriceDetailsView =>
  billed ? { ...details, meter_value: billed } : details

const row = (text: string, details: PriceDetailsView, amount: MoneyView, style = ''): TableCell[] =>
  [text, quantityOf(details), priceOf(details), money(amount)].map((cell, index) => ({
    text: cell,
    style,
    alignment: index === 0 ? 'left' : 'right',
  }))

function quantityOf({ meter_value: value }: PriceDetailsView): string {
  if (!value) return '1'
  return value.amount ? money(value.amount) : (value.number ?? '')
}

function priceOf({ band }: PriceDetailsView): string {
  if (!band) return ''
  const block = band.block_size?.number
  const parts = [
    ...(band.fixed_amount ? [money(band.fixed_amount)] : []),
    ...(band.amount ? [`× ${money(band.amount)}${block ? ` / ${block}` : ''}`] : []),
    ...(band.percentage ? [`${band.percentage} %`] : []),
  ]
  return parts.join(' + ')
}

function totals(invoice: InvoiceView): Content {
  const rows: [string, string][] = [
    ['Total excluding tax', money(invoice.tax_summary.base_amount)],
    ...invoice.tax_categories.map((tax): [string, string] => [
      `${printable(tax.name)} ${tax.percentage} % on ${money(tax.base_amount)}`,
      money(tax.tax_amount),
    ]),
    ['Total', money(invoice.tax_summary.total_amount)],
  ]
  const body = rows.map(([label, value], index): TableCell[] => {
    const bold = index === rows.length - 1
    return [
      { text: label, alignment: 'right', bold },
      { text: value, alignment: 'right', bold },
    ]
  })
  return { table: { widths: ['*', 110], body }, layout: 'noBorders', margin: [0, 0, 0, 12] }
}

function notes(invoice: InvoiceView): Content[] {
  const texts = [
    ...invoice.tax_categories.flatMap(tax => tax.notes),
    ...invoice.notes,
    ...(invoice.footnote ? [invoice.footnote] : []),
  ]
  return [...new Set(texts)].map((text): Content => ({ text: printable(text), style: 'small', margin: [0, 0, 0, 4] }))
}
