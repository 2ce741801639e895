import { expect, test } from 'vitest'
import type { InvoiceContent, TaxShareView } from '../../schema.ts'
import { withTaxes } from './shown-taxes.ts'

const cad = (quantity: string) => ({ quantity, currency: 'CAD' })
const share = (base: string, tax: string, more: object = {}): TaxShareView => ({
  ...{ base_amount: cad(base), tax_amount: cad(tax), total_amount: cad('0') },
  ...{ percentage: '14.975', name: 'GST + QST', category: 'STANDARD', ...more },
})
const rate = (name: string, percentage: string, tax: string) => ({ name, percentage, tax_amount: cad(tax) })
const EXCHANGE = {
  ...{ base_currency: 'CAD', currency: 'USD', rate: '0.5', rate_timestamp: '2026-01-01T00:00:00Z', source: 'own' },
}
const usd = (quantity: string) => ({ quantity, currency: 'USD' })
const local = (base: string, tax: string, total: string) => ({
  ...{ base_amount: usd(base), tax_amount: usd(tax), total_amount: usd(total) },
  ...{ used_exchange_rate: EXCHANGE, display: true },
})

/** What is shown of the taxes of two lines, and of the group and the period that hold them. */
function shownTaxes(summary: object, [whole, ...lines]: readonly TaxShareView[]) {
  const at = (of: readonly TaxShareView[]) => ({ tax_categories: of })
  const all = whole ? [whole] : []
  const periods = [{ ...at(all), groups: [{ ...at(all), lines: lines.map(line => at([line])) }] }]
  const content = { periods, tax_categories: [{ ...share('1.8', '0.27'), notes: [], rates: [], ...summary }] }
  const [period] = withTaxes(content as unknown as InvoiceContent)
  const [group] = period?.groups ?? []
  return [period, group, ...(group?.lines ?? [])].map(part => {
    const [{ rates, notes, local_amounts } = share('0', '0')] = part?.tax_categories ?? []
    const of = rates?.map(each => `${each.name} ${each.tax_amount.quantity}`)
    return [of, notes, local_amounts?.tax_amount.quantity ?? null]
  })
}

test('every level shows the rate of each authority, the notes and the amounts of the authority', () => {
  const rates = [rate('GST', '5', '0.09'), rate('QST', '9.975', '0.18')]
  const of = { rates, notes: ['A note.'], local_amounts: local('0.9', '0.14', '1.04') }
  const whole = share('1.8', '0.27')
  expect(shownTaxes(of, [whole, share('0.9', '0.13'), share('0.9', '0.14')])).toEqual([
    [['GST 0.09', 'QST 0.18'], ['A note.'], '0.14'],
    [['GST 0.09', 'QST 0.18'], ['A note.'], '0.14'],
    [['GST 0.04', 'QST 0.09'], ['A note.'], '0.07'],
    [['GST 0.05', 'QST 0.09'], ['A note.'], '0.07'],
  ])
})

test('a tax that is not in cents is parted exactly, and a summary of another name lends nothing', () => {
  const rates = [rate('A', '5', '0.09'), rate('B', '15', '0.18')]
  const exact = share('0.9', '0.1348')
  const other = share('0.9', '0.14', { name: 'VAT' })
  expect(shownTaxes({ rates, notes: [] }, [share('1.8', '0.27'), exact, other]).slice(2)).toEqual([
    [['A 0.0337', 'B 0.1011'], [], null],
    [undefined, undefined, null],
  ])
})
