// The files of an invoice: one function for each format, used by its own call and by links.
import type { InvoiceView } from '../schema.ts'
import { describeEInvoice } from './e-invoice/describe-e-invoice.ts'
import { writeCii, writeUbl } from './e-invoice/write-e-invoice.ts'
import { renderInvoiceHtml } from './html/render-html.ts'
import type { DocumentFormat } from './links/document-link.ts'
import type { Presentation } from './model/presentation.ts'
import { renderInvoicePdf } from './pdf/render-pdf.ts'

/** What the documents of an invoice are made from: the invoice with its lines and links, and what they show besides it. */
export type DocumentSource = { readonly invoice: InvoiceView; readonly presentation: Presentation }

/** The name of a file, with characters that are valid on every system. */
const nameOf = ({ invoice_number: number, id }: InvoiceView, extension: string): string =>
  `${(number ?? `draft-${id}`).replace(/[^0-9A-Za-z._-]/g, '_')}.${extension}`

export type Rendered = { readonly type: string; readonly name: string; readonly content: Buffer }

const pdf = async ({ invoice, presentation }: DocumentSource, facturX?: string): Promise<Rendered> => ({
  type: 'application/pdf',
  name: nameOf(invoice, 'pdf'),
  content: await renderInvoicePdf(invoice, presentation, facturX === undefined ? {} : { facturX }),
})

/** The invoice as UBL 2.1, with its PDF inside if wanted. Throws INVALID_OPERATION where EN 16931 cannot express it. */
export async function renderUbl(source: DocumentSource, { withPdf }: { readonly withPdf: boolean }): Promise<Rendered> {
  const described = describeEInvoice(source.invoice, source.presentation)
  const xml = await writeUbl(described, withPdf ? await pdf(source) : undefined)
  return { type: 'application/xml', name: nameOf(source.invoice, 'xml'), content: Buffer.from(xml) }
}

const RENDERERS: Readonly<Record<DocumentFormat, (source: DocumentSource) => Promise<Rendered>>> = {
  PDF: source => pdf(source),
  HTML: async ({ invoice, presentation }) => ({
    type: 'text/html; charset=utf-8',
    name: nameOf(invoice, 'html'),
    content: Buffer.from(renderInvoiceHtml(invoice, presentation)),
  }),
  UBL: source => renderUbl(source, { withPdf: false }),
  FACTUR_X: async source => await pdf(source, await writeCii(describeEInvoice(source.invoice, source.presentation))),
}

/** The file of an invoice in a format. Throws INVALID_OPERATION for an e-invoice that EN 16931 cannot express. */
export const renderDocument = (format: DocumentFormat, source: DocumentSource): Promise<Rendered> =>
  RENDERERS[format](source)

/** Throws what `renderDocument` would throw, so that no link leads to a refusal. */
export function checkFormat(format: DocumentFormat, { invoice, presentation }: DocumentSource): void {
  if (format === 'UBL' || format === 'FACTUR_X') describeEInvoice(invoice, presentation)
}
