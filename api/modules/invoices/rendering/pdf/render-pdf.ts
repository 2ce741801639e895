// An invoice as PDF bytes. Only the font packages are read, and nothing is fetched: a tenant's text never becomes a
// path or an address.
import type { InvoiceView } from '../../schema.ts'
import { unpack } from '../fonts/font.ts'
import { type FontBook, fontBookFor } from '../fonts/font-book.ts'
import { slicesFor } from '../fonts/slices.ts'
import { describeInvoice } from '../model/describe-invoice.ts'
import type { DocumentModel } from '../model/document-model.ts'
import type { Presentation } from '../model/presentation.ts'
import { escapeMetadata } from './document-metadata.ts'
import { drawLines, drawNotes, drawPayment, drawTaxes, drawTotals } from './draw-body.ts'
import { drawHead, SMALL } from './draw-head.ts'
import { type EmbeddedFontClass, embeddedFontClass, textPen } from './embedded-fonts.ts'
import { attachFacturX } from './factur-x.ts'
import { openPaper, type Paper } from './paper.ts'

const MARGIN = 48
const FOOTER = 56

type Tools = { readonly PDFDocument: typeof import('pdfkit'); readonly embedded: EmbeddedFontClass }
let prepared: Promise<Tools> | null = null

/** Loads PDFKit with the first document, because starting the process does not need it. */
async function prepare(): Promise<Tools> {
  const { default: PDFDocument } = await import('pdfkit')
  const [latin] = slicesFor(0x20, 400, 'sc')
  if (!latin) throw new Error('there is a font with a space')
  const scratch = new PDFDocument({ font: null as never, autoFirstPage: false })
  return { PDFDocument, embedded: embeddedFontClass(scratch, await unpack(latin)) }
}

export type PdfOptions = {
  readonly compress?: boolean
  /** The e-invoice as CII; makes the PDF a Factur-X document. */
  readonly facturX?: string
}

/** The PDF of an invoice with its lines. The same invoice and presentation give the same bytes. */
export async function renderInvoicePdf(
  invoice: InvoiceView,
  presentation?: Presentation,
  options: PdfOptions = {},
): Promise<Buffer> {
  const model = describeInvoice(invoice, presentation)
  prepared ??= prepare()
  prepared.catch(() => {
    prepared = null
  })
  const [tools, book] = await Promise.all([prepared, fontBookFor(textOf(model))])
  return await draw(model, tools, book, options)
}

/** Every text of a document, to find the fonts that it needs. */
function textOf(model: DocumentModel): string {
  const texts: string[] = [model.pageOf(1_234_567_890, 1_234_567_890), ' ()·']
  const gather = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value, value.toLocaleUpperCase())
    else if (Array.isArray(value)) value.forEach(gather)
    else if (typeof value === 'object' && value !== null && !Buffer.isBuffer(value))
      Object.values(value).forEach(gather)
  }
  gather({ ...model, logo: null, createdAt: null })
  return texts.join(' ')
}

async function draw(model: DocumentModel, { PDFDocument, embedded }: Tools, book: FontBook, options: PdfOptions) {
  const { compress = true, facturX } = options
  const document = new PDFDocument({
    font: null as never,
    compress,
    ...(facturX === undefined ? {} : { subset: 'PDF/A-3b' as 'PDF/A-3' }),
    pdfVersion: '1.7',
    tagged: true,
    lang: model.locale,
    displayTitle: true,
    size: model.pageSize,
    margin: 0,
    autoFirstPage: false,
    bufferPages: true,
    info: { Title: model.title, Author: model.issuer, CreationDate: model.createdAt, ModDate: model.createdAt },
  })
  escapeMetadata(document)
  const chunks: Buffer[] = []
  const written = new Promise<Buffer>((resolve, reject) => {
    document.on('data', (chunk: Buffer) => chunks.push(chunk))
    document.on('end', () => resolve(Buffer.concat(chunks)))
    document.on('error', reject)
  })
  const paper = openPaper({ document, pen: textPen(document, embedded), book, margin: MARGIN, footer: FOOTER })
  drawHead(paper, model)
  const nextPage = (): void => continueOn(paper, model)
  drawLines(paper, model, nextPage)
  drawTotals(paper, model, nextPage)
  drawTaxes(paper, model, nextPage)
  drawPayment(paper, model, nextPage)
  drawNotes(paper, model, nextPage)
  paper.root.end()
  drawFooters(paper, model)
  if (facturX !== undefined) attachFacturX(document, facturX, model.createdAt)
  document.end()
  return await written
}

/** A new page that names its invoice. */
function continueOn(paper: Paper, model: DocumentModel): void {
  paper.document.addPage()
  paper.y = MARGIN
  const lines = paper.lines(`${model.title} (${model.continued})`, SMALL, paper.width)
  paper.artifact(() => {
    paper.y += paper.text(lines, { x: paper.left, y: paper.y, width: paper.width }, SMALL) + 8
  })
}

function drawFooters(paper: Paper, model: DocumentModel): void {
  const { start, count } = paper.document.bufferedPageRange()
  for (let page = 0; page < count; page++) {
    paper.document.switchToPage(start + page)
    const y = paper.bottom + 18
    const title = paper.lines(`${model.title} · ${model.issuer}`, SMALL, paper.width - 100).slice(0, 1)
    const pages = paper.lines(model.pageOf(page + 1, count), SMALL, 100)
    paper.artifact(() => {
      paper.text(title, { x: paper.left, y, width: paper.width }, SMALL)
      paper.text(pages, { x: paper.right - 100, y, width: 100 }, SMALL, 'right')
    })
  }
}
