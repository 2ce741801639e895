// The files: that both syntaxes say what was described, and that a Factur-X document carries its XML.
import { expect, test } from 'vitest'
import { AppError } from '../../../../../shared/errors.ts'
import { renderInvoicePdf } from '../pdf/render-pdf.ts'
import { describeEInvoice } from './describe-e-invoice.ts'
import type { EInvoice } from './e-invoice-model.ts'
import { EXAMPLES, PRESENTATION } from './testing/examples.ts'
import { writeCii, writeUbl } from './write-e-invoice.ts'

const described = (name: string): EInvoice => {
  const invoice = EXAMPLES[name]
  if (!invoice) throw new Error(`there is no example ${name}`)
  return describeEInvoice(invoice, PRESENTATION)
}

/** The text of every element with this name, in order. */
const textsOf = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^<]*)</${name}>`, 'g'))].map(([, text = '']) => text)

/** The same figures under their names in UBL and in CII. */
const NAMES: readonly (readonly [ubl: string, cii: string])[] = [
  ['cbc:LineExtensionAmount', 'ram:LineTotalAmount'],
  ['cbc:TaxExclusiveAmount', 'ram:TaxBasisTotalAmount'],
  ['cbc:TaxInclusiveAmount', 'ram:GrandTotalAmount'],
  ['cbc:PayableAmount', 'ram:DuePayableAmount'],
  ['cbc:PrepaidAmount', 'ram:TotalPrepaidAmount'],
  ['cbc:PayableRoundingAmount', 'ram:RoundingAmount'],
  ['cbc:AllowanceTotalAmount', 'ram:AllowanceTotalAmount'],
  ['cbc:ChargeTotalAmount', 'ram:ChargeTotalAmount'],
  ['cbc:TaxableAmount', 'ram:BasisAmount'],
  ['cbc:PriceAmount', 'ram:ChargeAmount'],
  ['cbc:AllowanceChargeReason', 'ram:Reason'],
  ['cbc:TaxExemptionReason', 'ram:ExemptionReason'],
  ['cbc:RegistrationName', 'ram:Name'],
]

test.each(Object.keys(EXAMPLES))('%s says the same in UBL and in CII', async name => {
  const of = described(name)
  const [ubl, cii] = [await writeUbl(of), await writeCii(of)]
  for (const [inUbl, inCii] of NAMES) {
    const expected = textsOf(ubl, inUbl)
    // CII has the total after the lines, and uses its names for other parts as well.
    const found = textsOf(cii, inCii)
    expect([inUbl, expected.filter(text => !found.includes(text))]).toEqual([inUbl, []])
  }
  const lines = of.lines.map(({ net }) => net.toFixed(of.currency === 'JPY' ? 0 : 2))
  expect(textsOf(ubl, 'cbc:LineExtensionAmount').toSorted()).toEqual(
    [...lines, of.totals.lines.toFixed(of.currency === 'JPY' ? 0 : 2)].toSorted(),
  )
  expect(ubl).toContain(of.kind === 'INVOICE' ? '<Invoice ' : '<CreditNote ')
  const codes = of.selfBilled ? { INVOICE: '389', CREDIT_NOTE: '261' } : { INVOICE: '380', CREDIT_NOTE: '381' }
  expect(textsOf(cii, 'ram:TypeCode')[0]).toBe(codes[of.kind])
  expect(ubl).toContain(`TypeCode>${codes[of.kind]}<`)
  expect(textsOf(ubl, 'cbc:CustomizationID')).toEqual(['urn:cen.eu:en16931:2017'])
})

test('the same invoice gives the same bytes, and text from a tenant is never markup', async () => {
  const of = described('home-vat')
  const [first, second] = [await writeUbl(of), await writeUbl(of)]
  expect(first).toBe(second)
  expect(first).toContain('Mühle &amp; Söhne &lt;B.V.&gt;')
})

test('a line has the code of the unit of its item, and without a unit price that of one', async () => {
  const units = new Map(['item0', 'item1'].map(id => [id, { singular: 'hour', plural: 'hours' }]))
  const codesOf = async (name: string): Promise<string[]> => {
    const invoice = EXAMPLES[name]
    if (!invoice) throw new Error(`there is no example ${name}`)
    const xml = await writeUbl(describeEInvoice(invoice, { ...PRESENTATION, units }))
    return [...xml.matchAll(/InvoicedQuantity unitCode="(\w+)"/g)].map(([, code = '']) => code)
  }
  expect(await codesOf('unit-price')).toEqual(['HUR'])
  expect((await codesOf('tiers')).at(-1)).toBe('C62')
})

test('UBL carries the PDF if wanted', async () => {
  const content = Buffer.from('%PDF-1.7 of an invoice')
  const xml = await writeUbl(described('home-vat'), { name: 'INV-2026-00001.pdf', content })
  expect(xml).toContain('filename="INV-2026-00001.pdf"')
  expect(textsOf(xml, 'cbc:EmbeddedDocumentBinaryObject')).toEqual([content.toString('base64')])
})

test('a code that is in no list of the standard is refused', async () => {
  const of = described('home-vat')
  const seller = { ...of.seller, address: { ...of.seller.address, country: 'ZZ' } }
  const refused = await writeUbl({ ...of, seller }).catch(error => error)
  expect(refused).toBeInstanceOf(AppError)
  expect(refused.message).toContain('cbc:IdentificationCode')
})

test('a Factur-X document is PDF/A-3 with the XML inside, and the same bytes every time', async () => {
  const { 'home-vat': invoice } = EXAMPLES
  if (!invoice) throw new Error('there is an example')
  const facturX = await writeCii(describeEInvoice(invoice, PRESENTATION))
  const render = () => renderInvoicePdf(invoice, PRESENTATION, { facturX, compress: false })
  const [first, second] = [await render(), await render()]
  expect(first.equals(second)).toBe(true)
  const text = first.toString()
  for (const part of [
    '<pdfaid:part>3</pdfaid:part>',
    '<fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>',
    '/AFRelationship /Alternative',
    '(factur-x.xml)',
    '<rsm:CrossIndustryInvoice',
    // A name with an ampersand does not break the metadata.
    '<rdf:li>Mühle &amp; Söhne &lt;B.V.&gt;</rdf:li>',
  ]) {
    expect(text).toContain(part)
  }
})
