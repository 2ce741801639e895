import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recurring } from '../../../billing/testing/example-inputs.ts'
import { describeInvoice } from '../model/describe-invoice.ts'
import { exampleDocument } from '../testing/example-document.ts'
import { BRANDED, FIXTURES } from '../testing/fixtures.ts'
import { renderInvoiceHtml } from './render-html.ts'

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const textOf = (page: string): string =>
  page
    .slice(page.indexOf('<main>'))
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replace(/\s+/g, ' ')

test.each(Object.entries(FIXTURES))('the page of %s has every text of its document', (_, fixture) => {
  const invoice = exampleDocument(fixture)
  const model = describeInvoice(invoice, fixture.presentation)
  const text = textOf(renderInvoiceHtml(invoice, fixture.presentation))
  const shown = (value: string) => expect(text).toContain(value.replace(/\s+/g, ' '))
  for (const block of [model.seller, model.buyer]) [block.head, block.name, ...block.lines].forEach(shown)
  for (const { label, value } of [...model.facts, ...model.totals]) [label, value].forEach(shown)
  for (const { rows } of model.sections)
    for (const row of rows) [row.text, ...row.notes, row.quantity, row.price, row.amount].forEach(shown)
  for (const tax of model.taxes) [tax.name, tax.rate, tax.taxable, tax.amount, ...tax.notes].forEach(shown)
  model.notes.forEach(shown)
})

test('it names its language, draws the code to pay, and loads nothing', () => {
  const page = renderInvoiceHtml(exampleDocument({ items: [recurring('1')], customer: { locale: 'nl-NL' } }), BRANDED)
  expect(page).toContain('<html lang="nl-NL">')
  expect(page).toContain('<h1>Factuur')
  expect(page).toContain('<svg viewBox')
  expect(page).not.toMatch(/<script|<link|src="(?!data:)|url\(/)
})

test('what a tenant wrote is shown, never run', () => {
  const hostile = fc.stringMatching(/^[<>"'&a-z/= ]{1,40}$/).map(text => `<img src=x onerror=alert(1)>${text}"'`)
  fc.assert(
    fc.property(hostile, name => {
      const page = renderInvoiceHtml(
        exampleDocument({ items: [recurring('1')], customer: { organization: { legal_name: name } }, footnote: name }),
      )
      expect(page).not.toContain('<img')
      expect(textOf(page)).toContain(name.trim().replace(/\s+/g, ' '))
    }),
    { numRuns: 50 },
  )
})
