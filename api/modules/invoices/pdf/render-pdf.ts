// An invoice as PDF bytes. The fonts come with pdfmake; nothing else is read and nothing is fetched.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import pdfmake from 'pdfmake'
import type { InvoiceView } from '../schema.ts'
import { invoiceDocument } from './invoice-document.ts'

let prepared = false

/** Tells pdfmake its fonts, and that it may read those files only: a tenant's text must never become a path or an address. */
function prepare(): void {
  if (prepared) return
  const folder = join(dirname(createRequire(import.meta.url).resolve('pdfmake/package.json')), 'fonts', 'Roboto')
  const normal = join(folder, 'Roboto-Regular.ttf')
  const bold = join(folder, 'Roboto-Medium.ttf')
  pdfmake.setFonts({ Roboto: { normal, bold, italics: normal, bolditalics: bold } })
  pdfmake.setUrlAccessPolicy(() => false)
  pdfmake.setLocalAccessPolicy(path => path === normal || path === bold)
  prepared = true
}

/** The PDF of an invoice with its lines. The same invoice gives the same bytes. */
export async function renderInvoicePdf(
  invoice: InvoiceView,
  options: { readonly compress?: boolean } = {},
): Promise<Buffer> {
  prepare()
  return await pdfmake.createPdf(invoiceDocument(invoice, options.compress ?? true)).getBuffer()
}
