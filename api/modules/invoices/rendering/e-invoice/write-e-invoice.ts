// Writes e-invoices as XML with the library (docs/decisions/0027). Nothing is read or fetched.
import type { EInvoice } from './e-invoice-model.ts'
import { notExpressible } from './refusal.ts'
import { toUbl } from './to-ubl.ts'

const PROFILE = 'urn:cen.eu:en16931:2017'
const SILENT = { log: () => undefined, warn: () => undefined, error: () => undefined }

type Tools = {
  readonly formats: import('@e-invoice-eu/core').FormatFactoryService
  readonly hasForm: import('ajv').ValidateFunction
}
let prepared: Promise<Tools> | null = null

/** Loads the library with the first e-invoice, because starting the process does not need it. */
async function prepare(): Promise<Tools> {
  const [{ FormatFactoryService, invoiceSchema }, { default: Ajv }] = await Promise.all([
    import('@e-invoice-eu/core'),
    import('ajv/dist/2019.js'),
  ])
  const schema: Schema = structuredClone(invoiceSchema) as never
  const line = schema.properties['ubl:Invoice']?.properties?.['cac:InvoiceLine']?.items
  const price = line?.properties['cac:Price']?.properties
  if (!price) throw new Error('the library describes prices')
  // The library allows two decimals, the standard any number of them (BT-146).
  price['cbc:PriceAmount'] = { $ref: '#/$defs/dataTypes/Quantity' }
  const ajv = new Ajv.default({ strict: false, allErrors: false })
  return { formats: new FormatFactoryService(), hasForm: ajv.compile(schema) }
}

type Schema = {
  readonly properties: Record<
    string,
    { readonly $ref?: string; readonly properties?: Schema['properties']; readonly items?: Schema }
  >
}

/** A PDF that a UBL file carries. */
export type CarriedPdf = { readonly name: string; readonly content: Buffer }

/** The e-invoice as UBL 2.1 (Invoice or CreditNote), with the PDF inside if one is given. */
export const writeUbl = (of: EInvoice, pdf?: CarriedPdf): Promise<string> =>
  write(of, 'UBL', {
    ...(pdf
      ? {
          embedPDF: true,
          pdf: { buffer: pdf.content, filename: pdf.name, mimetype: 'application/pdf', id: of.number },
        }
      : {}),
  })

/** The e-invoice as CII (D16B), which a Factur-X document of the profile EN 16931 carries. */
export const writeCii = (of: EInvoice): Promise<string> => write(of, 'CII', {})

type Options = Omit<import('@e-invoice-eu/core').InvoiceServiceOptions, 'format' | 'lang'>

async function write(of: EInvoice, format: 'UBL' | 'CII', options: Options): Promise<string> {
  prepared ??= prepare()
  prepared.catch(() => {
    prepared = null
  })
  const { formats, hasForm } = await prepared
  const invoice = toUbl(of, PROFILE)
  if (!hasForm(invoice)) {
    // The library knows the code lists of the standard.
    const [fault] = hasForm.errors ?? []
    throw notExpressible('format', `${fault?.instancePath ?? ''} ${fault?.message ?? ''}.`)
  }
  const written = await formats
    .createFormatService(format, SILENT)
    .generate(invoice, { ...options, format, lang: 'en' })
  if (typeof written !== 'string') throw new Error('XML is text')
  return written
}
