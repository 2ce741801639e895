import { describe, expect, test } from 'vitest'
import { fraction } from '../../../../shared/billing/fraction.ts'
import { type TaxDecided, taxAtRate } from '../../../../shared/billing/tax/tax.ts'
import { type Example, exampleInputs, exampleInvoices, recurring } from '../../billing/testing/example-inputs.ts'
import type { InvoiceContent } from '../schema.ts'
import { splitIssuedTax } from './split-issued-tax.ts'

const US = { registered_address: { country: 'US' } }
/** An invoice between two parties in the US with this percentage on its lines. */
function issued(percentage: string, amounts: readonly string[], more: Partial<Example> = {}): InvoiceContent {
  const inputs = exampleInputs({
    start: '2026-01-01T00:00:00Z',
    items: amounts.map(quantity => recurring(quantity)),
    subscription: { sales_tax_percentage: percentage },
    ...more,
  })
  const [invoice] = exampleInvoices(
    {
      ...inputs,
      customer: { ...inputs.customer, organization: { legal_name: 'Acme', ...US } },
      billing_entity: { ...inputs.billing_entity, ...US },
    },
    1,
  )
  if (!invoice) throw new Error('the subscription is billed')
  return invoice.content
}
const SIXTY = fraction(60, 100)
const split = (content: InvoiceContent, decision: TaxDecided) => splitIssuedTax({ content, currency: 'EUR' }, decision)
const summaries = (content: InvoiceContent | null) =>
  content?.tax_categories.map(
    ({ percentage, base_amount, tax_amount }) => `${percentage} % of ${base_amount.quantity}: ${tax_amount.quantity}`,
  )
const linesOf = (content: InvoiceContent | null) =>
  (content?.periods ?? []).flatMap(({ groups }) => groups.flatMap(({ lines }) => lines))

describe('the split of a partial exemption on an issued invoice', () => {
  test('shows the rate on the taxable part and one summary of 0 % for the rest, with the same tax', () => {
    const content = issued('12.6', ['100', '33.33'])
    expect(summaries(content)).toEqual(['12.6 % of 133.33: 16.80'])
    const after = split(content, taxAtRate('Sales tax', '12.6', SIXTY))
    expect(summaries(after)).toEqual(['21 % of 80.00: 16.80', '0 % of 53.33: 0.00'])
    expect(after?.tax_summary).toEqual(content.tax_summary)
    for (const [index, line] of linesOf(after).entries()) {
      const before = linesOf(content)[index]
      expect([line.amount_excluding_tax, line.amount_including_tax, line.details]).toEqual([
        before?.amount_excluding_tax,
        before?.amount_including_tax,
        before?.details,
      ])
      expect(line.tax_categories.map(({ percentage }) => percentage)).toEqual(['21', '0'])
    }
    const bases = linesOf(after).flatMap(({ tax_categories }) => tax_categories.map(({ base_amount }) => base_amount))
    expect(bases.reduce((all, { quantity }) => all + Math.round(Number(quantity) * 100), 0)).toBe(13333)
  })

  test('done twice is done once, and without an exemption there is nothing to do', () => {
    const content = issued('12.6', ['100'])
    const once = split(content, taxAtRate('Sales tax', '12.6', SIXTY))
    expect(once && split(once, taxAtRate('Sales tax', '12.6', SIXTY))).toBe(once)
    expect(split(content, taxAtRate('Sales tax', '12.6'))).toBe(content)
  })

  test('is refused where a rule gives another rate: the invoice was taxed in full', () => {
    const ruled: TaxDecided = { ...taxAtRate('VAT', '12.6', SIXTY), treatment: 'LOCAL_RATE' }
    expect(split(issued('12.6', ['100']), ruled)).toBeNull()
    expect(summaries(split(issued('12.6', ['100']), { ...ruled, ...rates('21') }))).toEqual([
      '21 % of 60.00: 12.60',
      '0 % of 40.00: 0.00',
    ])
  })

  test('is refused where it would change a cent', () => {
    // 0.06 at 10 % is 0.01; its taxable part of 0.04 at 16.66… % is 0.01 as well, but of 0.03 at 20 % it is 0.01 and of 0.0 nothing.
    expect(split(issued('50', ['0.01']), taxAtRate('Sales tax', '50', fraction(1, 100)))).toBeNull()
  })
})

const rates = (percentage: string) => ({ rates: taxAtRate('VAT', percentage).rates })
