// Tax in the currency of the tax authority, computed by hand from reference rates.
import { expect, test } from 'vitest'
import type { ExchangeRate } from '../../../../../shared/billing/exchange/exchange-rates.ts'
import { localDate } from '../../../../../shared/billing/local-days.ts'
import { taxCurrency } from '../../../../../shared/billing/tax/tax-currencies.ts'
import { decimal } from '../../../../../shared/decimal.ts'
import { exampleInputs, recurring } from '../../../billing/testing/example-inputs.ts'
import { describeEInvoice } from '../../rendering/e-invoice/describe-e-invoice.ts'
import { creditOf, PRESENTATION } from '../../rendering/e-invoice/testing/examples.ts'
import { writeCii, writeUbl } from '../../rendering/e-invoice/write-e-invoice.ts'
import { describeInvoice } from '../../rendering/model/describe-invoice.ts'
import { exampleDocument } from '../../rendering/testing/example-document.ts'
import { localAmounts, localRateOf } from './local-amounts.ts'

const rate = (base_currency: string, currency: string, text: string, day = '2026-01-30'): ExchangeRate => ({
  base_currency,
  currency,
  rate: text,
  rate_timestamp: `${day}T00:00:00Z`,
  source: 'ECB',
})
const USD = rate('EUR', 'USD', '1.0832')
const GBP = rate('EUR', 'GBP', '0.85')
const base = exampleInputs({ start: '2026-01-01T00:00:00Z', items: [] })
const day = localDate('2026-02-01')

function localOf({ country = 'NL', currency = 'USD', rates = [USD, GBP] as ExchangeRate[], tax = '21', used = '' }) {
  if (day === null) throw new Error('it is a day')
  const parties = {
    ...base,
    billing_entity: { ...base.billing_entity, registered_address: { country } },
    tax_exchange_rates: rates,
  }
  const decided = {
    rates: tax === '0' ? [] : [{ name: 'VAT', percentage: decimal(tax) }],
    usedRegistration: used || null,
  }
  const dates = { day, invoiceDate: null, deliveryDate: '', dueDate: null }
  const found = localRateOf({ parties, currency, dates }, decided)
  const findings = found.findings.map(({ details }) => details)
  if (!found.rate) return findings
  const amounts = localAmounts(found.rate, { base: decimal('100'), tax: decimal(tax), currency })
  const { base_amount, tax_amount, total_amount, used_exchange_rate } = amounts
  return [base_amount, tax_amount, total_amount].map(({ quantity }) => quantity).concat(used_exchange_rate.rate)
}

const OLD = [expect.stringContaining('at most 31 days')]

test.each<[string, Parameters<typeof localOf>[0], unknown[]]>([
  // 100 ÷ 1.0832 = 92.319…, 21 ÷ 1.0832 = 19.386…
  ['a rate against the currency of the authority divides', {}, ['92.32', '19.39', '111.71', '1.0832']],
  [
    'a rate of the currency of the invoice multiplies',
    { rates: [rate('USD', 'EUR', '0.9')] },
    ['90.00', '18.90', '108.90', '0.9'],
  ],
  // 0.85 ÷ 1.0832 = 0.784711964549…
  ['two rates against one base', { country: 'GB', tax: '20' }, ['78.47', '15.69', '94.16', '0.784711964549']],
  [
    'a currency without decimals',
    { country: 'JP', tax: '10', rates: [rate('USD', 'JPY', '151.235')] },
    ['15124', '1512', '16636', '151.235'],
  ],
  [
    'the registration whose tax is charged',
    { used: 'PL', tax: '23', rates: [rate('USD', 'PLN', '4')] },
    ['400.00', '92.00', '492.00', '4'],
  ],
  [
    'the later of two rates',
    { rates: [rate('EUR', 'USD', '2', '2026-01-15'), USD] },
    ['92.32', '19.39', '111.71', '1.0832'],
  ],
  [
    'not a rate after the date',
    { rates: [USD, rate('EUR', 'USD', '2', '2026-02-02')] },
    ['92.32', '19.39', '111.71', '1.0832'],
  ],
  ['no rate that is too old', { rates: [rate('EUR', 'USD', '1.1', '2025-12-31')] }, OLD],
  ['none for the same currency', { currency: 'EUR' }, []],
  ['none without tax', { tax: '0' }, []],
  ['none where the platform has no rates', { rates: [] }, OLD],
  ['none where it has rates of other currencies', { rates: [rate('EUR', 'SEK', '11')] }, OLD],
  ['none in a country that is not known', { country: 'BR' }, []],
])('%s', (_name, of, expected) => {
  expect(localOf(of)).toEqual(expected)
})

test('a member that took the euro had its own currency before', () => {
  const on = (country: string, text: string) => {
    const date = localDate(text)
    return date && taxCurrency(country, date)
  }
  expect([on('BG', '2025-12-31'), on('BG', '2026-01-01')]).toEqual(['BGN', 'EUR'])
  expect([on('HR', '2022-12-31'), on('HR', '2023-01-01')]).toEqual(['HRK', 'EUR'])
})

test('the invoice, its document, its credit note and its e-invoices state them alike', async () => {
  const UK = { registered_address: { country: 'GB' } }
  const invoice = exampleDocument({
    items: [recurring('100'), recurring('33.33')],
    customer: { organization: { legal_name: 'Acme', ...UK } },
    seller: { ...UK, tax_id: 'GB123456789' },
    inputs: { tax_exchange_rates: [GBP] },
  })
  const local = (of: typeof invoice) =>
    [of.tax_summary, ...of.tax_categories].map(({ local_amounts: each }) => each?.tax_amount)
  // 20 % of 133.33 is 26.67, and 26.67 × 0.85 = 22.6695.
  const tax = { quantity: '22.67', currency: 'GBP' }
  expect(local(invoice)).toEqual([tax, tax])
  const credit = creditOf(invoice)
  const back = { quantity: '-22.67', currency: 'GBP' }
  expect(local(credit)).toEqual([back, back])
  expect(describeInvoice(invoice).taxes[0]?.notes.map(note => note.replaceAll('\u00a0', ' '))).toEqual([
    'Taxable amount GBP 113.33, tax GBP 22.67 (EUR 1.00 = 0.85 GBP; ECB, 2026-01-30)',
  ])
  for (const issued of [invoice, credit]) {
    const described = describeEInvoice(issued, PRESENTATION)
    const ubl = await writeUbl(described)
    expect(ubl).toContain('<cbc:TaxCurrencyCode>GBP</cbc:TaxCurrencyCode>')
    expect(ubl).toContain('<cbc:TaxAmount currencyID="GBP">22.67</cbc:TaxAmount>')
    const cii = await writeCii(described)
    expect(cii).toContain('<ram:TaxCurrencyCode>GBP</ram:TaxCurrencyCode>')
    expect(cii).toContain('<ram:TaxTotalAmount currencyID="GBP">22.67</ram:TaxTotalAmount>')
  }
})
