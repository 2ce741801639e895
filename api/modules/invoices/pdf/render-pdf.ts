// An invoice as PDF bytes. The fonts come with pdfmake; nothing else is read and nothing is fetched.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { InvoiceView } from '../schema.ts'
import { invoiceDocument } from './invoice-document.ts'

type Pdfmake = typeof import('pdfmake')

let prepared: Promise<Pdfmake> | null = null

/**
 * Loads pdfmake with the first document, since a start can do without; tells it its fonts, and that it may read those files only: a
 * tenant's text must never become a path or an address.
 */
async function prepare(): Promise<Pdfmake> {
  const { default: pdfmake } = await import('pdfmake')
  const folder = join(dirname(createRequire(import.meta.url).resolve('pdfmake/package.json')), 'fonts', 'Roboto')
  const normal = join(folder, 'Roboto-Regular.ttf')
  const bold = join(folder, 'Roboto-Medium.ttf')
  pdfmake.setFonts({ Roboto: { normal, bold, italics: normal, bolditalics: bold } })
  pdfmake.setUrlAccessPolicy(() => false)
  pdfmake.setLocalAccessPolicy(path => path === normal || path === bold)
  return pdfmake
}

/** The PDF of an invoice with its lines. The same invoice gives the same bytes. */
export async function renderInvoicePdf(
  invoice: InvoiceView,
  options: { readonly compress?: boolean } = {},
): Promise<Buffer> {
  prepared ??= prepare()
  const pdfmake = await prepared
  return await pdfmake.createPdf(invoiceDocument(invoice, options.compress ?? true)).getBuffer()
}
