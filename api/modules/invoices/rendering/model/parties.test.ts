// Who is named as supplier and who as customer, in five languages.
import { expect, test } from 'vitest'
import { recurring } from '../../../billing/testing/example-inputs.ts'
import { exampleDocument } from '../testing/example-document.ts'
import { describeInvoice } from './describe-invoice.ts'

const UK = { registered_address: { country: 'GB', city: 'Leeds' } }
const documentOf = (locale: string, selfBilling: boolean) =>
  describeInvoice(
    exampleDocument({
      items: [recurring('100')],
      customer: { locale, organization: { legal_name: 'Ada Ltd', tax_id: 'GB123456789', ...UK } },
      seller: { legal_name: 'Market plc', ...UK },
      ...(selfBilling
        ? { subscription: { variant: 'SELF_BILLING' as const }, row: { billing_type: 'SELF_BILLING' as const } }
        : {}),
    }),
  )

test.each([
  ['en-GB', 'Self-billing invoice', 'Supplier', 'Customer, who issues this invoice', 'your output tax due to HMRC'],
  ['de-DE', 'Gutschrift', 'Leistungserbringer', 'Leistungsempfänger und Aussteller', 'an HMRC'],
  ['fr-FR', 'Autofacturation', 'Fournisseur', 'Client, émetteur de cette facture', 'HMRC'],
  ['nl-NL', 'Factuur uitgereikt door afnemer', 'Leverancier', 'Afnemer, die deze factuur uitreikt', 'HMRC'],
  ['es-ES', 'Facturación por el destinatario', 'Proveedor', 'Destinatario, que expide esta factura', 'HMRC'],
])('a self-billing document in %s names the customer as supplier', (locale, heading, supplier, issuer, note) => {
  const model = documentOf(locale, true)
  expect([model.heading, model.issuer]).toEqual([heading, 'Market plc'])
  expect([model.seller, model.buyer]).toMatchObject([
    { head: supplier, name: 'Ada Ltd' },
    { head: issuer, name: 'Market plc' },
  ])
  expect(model.seller.lines.join('\n')).toContain('GB123456789')
  expect(model.notes).toEqual([expect.stringContaining(note)])
})

test('any other document names the billing entity as the seller', () => {
  const model = documentOf('en', false)
  expect([model.seller, model.buyer]).toMatchObject([
    { head: 'From', name: 'Market plc' },
    { head: 'To', name: 'Ada Ltd' },
  ])
  expect(model.notes).toEqual([])
})
