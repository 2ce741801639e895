import { expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import type { InvoiceContent } from '../schema.ts'
import { columnsOfTotals, creditDocument } from './credit-document.ts'
import { creditedPeriods, leftOfLines } from './credit-left.ts'

const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const TAX = { category: 'STANDARD', percentage: '21', name: 'VAT' } as const
const line = (id: string, base: string, tax: string) => ({
  id,
  tax_categories: [{ ...TAX, base_amount: eur(base), tax_amount: eur(tax), total_amount: eur('0') }],
  details: { pricing_currency: 'EUR', description: '' },
})

test('the totals of a part of an UNROUNDED invoice are whole cents that add up', () => {
  const content = {
    rounding_mode: 'UNROUNDED',
    tax_categories: [{ ...TAX, notes: [], rates: [] }],
    tax_summary: { notes: [] },
    periods: [{ groups: [{ lines: [line('a', '10.004', '2.104'), line('b', '5', '1.05')] }] }],
  } as unknown as InvoiceContent
  const of = { content, left: leftOfLines(content, []), basis: 'EXCLUDING_TAX', currency: 'EUR' } as const
  const credit = creditDocument(of, new Map([['a', decimal('10.004')]]), null)
  // Each rounded on its own they would be 10.00, 2.10 and 12.11.
  expect(credit.content.tax_summary).toMatchObject({
    base_amount: eur('-10.00'),
    tax_amount: eur('-2.10'),
    total_amount: eur('-12.10'),
  })
  expect(columnsOfTotals(credit.totals)).toEqual({
    amount_excluding_tax: '-10',
    tax_amount: '-2.1',
    amount_including_tax: '-12.1',
  })
  // The line keeps its exact amount, so that what is left of it is exact too.
  expect(leftOfLines(content, [credit.content]).get('a')).toEqual([{ base: decimal('0'), tax: decimal('0') }])
})

test('the local amounts of partial credits add up to those of the invoice', () => {
  const gbp = (quantity: string) => ({ quantity, currency: 'GBP' })
  const used_exchange_rate = { base_currency: 'EUR', currency: 'GBP', rate: '0.85', source: 'ECB', rate_timestamp: '' }
  // 10 × 0.85 and 2.10 × 0.85 = 1.785.
  const local_amounts = {
    ...{ base_amount: gbp('8.50'), tax_amount: gbp('1.79'), total_amount: gbp('10.29') },
    ...{ used_exchange_rate, display: true },
  }
  const content = {
    rounding_mode: 'DEFAULT',
    tax_categories: [{ ...TAX, notes: [], rates: [], local_amounts }],
    tax_summary: { notes: [], local_amounts },
    periods: [{ groups: [{ lines: [line('a', '10', '2.1')] }] }],
  } as unknown as InvoiceContent
  const credits: InvoiceContent[] = []
  const local = ['3.33', '3.33', '3.34'].map(part => {
    const of = { content, left: leftOfLines(content, credits), basis: 'EXCLUDING_TAX', currency: 'EUR' } as const
    const made = creditDocument({ ...of, credits }, new Map([['a', decimal(part)]]), null).content
    credits.push(made)
    const { base_amount, tax_amount } = made.tax_summary.local_amounts ?? expect.fail('it has local amounts')
    return [base_amount.quantity, tax_amount.quantity]
  })
  // By the rate alone each would be 2.83 or 2.84 and 0.60 (0.70 × 0.85 = 0.595), and the taxes sum to 1.80.
  expect(local).toEqual([
    ['-2.83', '-0.60'],
    ['-2.83', '-0.60'],
    ['-2.84', '-0.59'],
  ])
})

test('a period is closed once FINAL credit notes gave back all of its lines', () => {
  const periodOf = (...lines: ReturnType<typeof line>[]) => ({ groups: [{ lines }] })
  const content = (...periods: ReturnType<typeof periodOf>[]) => ({ periods }) as unknown as InvoiceContent
  const [march, april] = [periodOf(line('a', '10', '2.1'), line('b', '5', '1.05')), periodOf(line('c', '7', '1.47'))]
  const original = content(march, april)
  const credit = (...lines: ReturnType<typeof line>[]) => content(periodOf(...lines))
  const all = credit(line('a', '-10', '-2.1'), line('b', '-5', '-1.05'))
  expect(creditedPeriods(original, [])).toEqual([])
  expect(creditedPeriods(original, [all])).toEqual([march])
  expect(creditedPeriods(original, [credit(line('a', '-10', '-2.1'), line('b', '-4', '-0.84'))])).toEqual([])
  expect(creditedPeriods(original, [all, credit(line('c', '-7', '-1.47'))])).toEqual([march, april])
})
