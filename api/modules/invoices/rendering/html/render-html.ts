// An invoice as a self-contained HTML page: no script, no file, no other address. Its content is that of the PDF.
import { encode } from 'uqr'
import { escaped } from '../../../../docs-pages/html.ts'
import type { InvoiceView } from '../../schema.ts'
import { describeInvoice } from '../model/describe-invoice.ts'
import type { Block, DocumentModel, Fact, Row, Section, TaxRow } from '../model/document-model.ts'
import type { Presentation } from '../model/presentation.ts'

/** A browser may only display the page. */
export const DOCUMENT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The page of an invoice with its lines. The same invoice and presentation give the same page. */
export function renderInvoiceHtml(invoice: InvoiceView, presentation?: Presentation): string {
  const model = describeInvoice(invoice, presentation)
  return `<!doctype html>
<html lang="${escaped(model.locale)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(model.title)}</title>
<style>${styleOf(model)}</style>
</head>
<body>
<main>
${headOf(model)}
${linesOf(model)}
${totalsOf(model)}
${taxesOf(model)}
${paymentOf(model)}
${model.notes.map(note => `<p class="small">${text(note)}</p>`).join('\n')}
</main>
</body>
</html>
`
}

/** Each text has its own direction, so that an Arabic name does not reverse its line. */
const text = (value: string): string => `<bdi>${escaped(value)}</bdi>`

const styleOf = ({ accentColor }: DocumentModel): string => `
:root{--accent:${accentColor};--ink:#1a1d21;--grey:#5c6570;--line:#d4d8dd}
body{margin:0;background:#fff;color:var(--ink);font:15px/1.5 "Noto Sans",system-ui,sans-serif}
main{max-width:56rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
header,.parties,.facts{display:flex;flex-wrap:wrap;gap:1rem 2rem;justify-content:space-between}
header{border-bottom:2px solid var(--accent);padding-bottom:1rem}
.parties,.facts{padding:1rem 0}.parties>*{flex:1 1 14rem}
h1,h2,th{color:var(--accent)}h1{margin:0;text-align:end}h2{font-size:1rem}
address{font-style:normal}p{margin:0}img{max-width:14rem;max-height:4rem}
table{border-collapse:collapse;width:100%;margin:.5rem 0 1rem}
th,td{text-align:end;padding:.3rem .4rem;vertical-align:top}th:first-child,td:first-child{text-align:start}
tbody tr{border-top:1px solid var(--line)}tr.band{border:0}tr.band td{color:var(--grey);font-size:.85rem}
tr.band td:first-child{padding-inline-start:2rem}.small,dt{color:var(--grey);font-size:.85rem}
.totals{margin-inline-start:auto;width:auto}.totals tr{border:0}.strong{font-weight:700}
.due{font-size:1.4rem;font-weight:700;color:var(--accent)}dd{margin:0 0 .3rem}
.stamp{display:inline-block;border:2px solid;border-radius:.25rem;padding:0 .5rem;font-weight:700;text-transform:uppercase}
.DRAFT{color:#8a6100}.PAID{color:#1d7a3a}.VOID{color:#b3261e}
.account{display:flex;flex-wrap:wrap;gap:1rem 2rem;justify-content:space-between}.account svg{width:8rem;height:8rem}
@media print{main{margin:0;max-width:none}thead{display:table-header-group}tr{break-inside:avoid}}`

function headOf(model: DocumentModel): string {
  const { logo, issuer, heading, number, stamp, due } = model
  const brand = logo
    ? `<img alt="${escaped(issuer)}" src="data:${logo.type};base64,${logo.content.toString('base64')}">`
    : `<p class="strong">${text(issuer)}</p>`
  const mark = stamp ? `<p><span class="stamp ${stamp.kind}">${escaped(stamp.text)}</span></p>` : ''
  const owed = due
    ? `<div><p class="small">${escaped(due.label)}</p><p class="due">${escaped(due.value)}</p></div>`
    : ''
  return `<header><div>${brand}</div><div><h1>${escaped(heading)}${number === null ? '' : ` ${text(number)}`}</h1>${mark}</div></header>
<div class="parties">${blockOf(model.seller)}${blockOf(model.buyer)}</div>
<div class="facts">${model.facts.map(factOf).join('')}${owed}</div>`
}

const blockOf = ({ head, name, lines }: Block): string =>
  `<address><p class="small">${escaped(head)}</p><p class="strong">${text(name)}</p>${lines.map(line => `<p>${text(line)}</p>`).join('')}</address>`

const factOf = ({ label, value }: Fact): string =>
  `<div><p class="small">${escaped(label)}</p><p>${text(value)}</p></div>`

const headRow = (columns: readonly string[]): string =>
  `<thead><tr>${columns.map(column => `<th scope="col">${escaped(column)}</th>`).join('')}</tr></thead>`

function linesOf({ columns, sections, nothingCharged }: DocumentModel): string {
  const shown = sections.filter(({ rows }) => rows.length > 0)
  const body =
    shown.length === 0 ? `<tr><td colspan="4">${escaped(nothingCharged)}</td></tr>` : shown.map(sectionOf).join('\n')
  return `<table>${headRow(columns)}<tbody>${body}</tbody></table>`
}

const sectionOf = ({ title, period, rows }: Section): string =>
  `<tr><td colspan="4"><p class="strong">${text(title)}</p><p class="small">${escaped(period)}</p></td></tr>
${rows.map(rowOf).join('\n')}`

const rowOf = ({ kind, text: what, notes, quantity, price, amount }: Row): string =>
  `<tr class="${kind.toLowerCase()}"><td>${text(what)}${notesOf(notes)}</td><td>${text(quantity)}</td><td>${text(price)}</td><td>${text(amount)}</td></tr>`

const notesOf = (notes: readonly string[]): string => notes.map(note => `<p class="small">${text(note)}</p>`).join('')

const totalsOf = ({ totals }: DocumentModel): string =>
  `<table class="totals"><tbody>${totals
    .map(
      ({ label, value, strong }) =>
        `<tr${strong ? ' class="strong"' : ''}><td>${text(label)}</td><td>${text(value)}</td></tr>`,
    )
    .join('')}</tbody></table>`

function taxesOf({ taxes, taxHead }: DocumentModel): string {
  if (taxes.length === 0) return ''
  const [, ...columns] = taxHead.columns
  return `<table>${headRow([taxHead.title, ...columns])}<tbody>${taxes.map(taxOf).join('')}</tbody></table>`
}

const taxOf = ({ name, rate, taxable, amount, notes }: TaxRow): string =>
  `<tr><td>${text(name)}${notesOf(notes)}</td><td>${text(rate)}</td><td>${text(taxable)}</td><td>${text(amount)}</td></tr>`

function paymentOf({ payment: { title, accounts, links }, scanToPay }: DocumentModel): string {
  if (accounts.length === 0 && links.length === 0) return ''
  const shown = accounts.map(
    ({ facts, qr }) =>
      `<div class="account"><dl>${facts.map(({ label, value }) => `<dt>${escaped(label)}</dt><dd>${text(value)}</dd>`).join('')}</dl>${qr === null ? '' : `<figure>${qrOf(qr, scanToPay)}</figure>`}</div>`,
  )
  const pages = links.map(
    ({ label, value }) =>
      `<p>${escaped(label)}: <a rel="noreferrer" href="${escaped(value)}">${escaped(value)}</a></p>`,
  )
  return `<section><h2>${escaped(title)}</h2>${shown.join('')}${pages.join('')}</section>`
}

function qrOf(content: string, label: string): string {
  const { data, size } = encode(content, { ecc: 'M', border: 2 })
  const path = data.flatMap((row, y) =>
    [
      ...row
        .map(dark => (dark ? '#' : ' '))
        .join('')
        .matchAll(/#+/g),
    ].map(({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`),
  )
  return `<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="${escaped(label)}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path.join('')}"/></svg>`
}
