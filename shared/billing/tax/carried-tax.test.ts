import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum } from '../../decimal.ts'
import { type AmountInput, type AmountLine, computeAmounts, type InvoiceAmounts } from '../amount-pipeline.ts'
import { type Fraction, fraction, WHOLE } from '../fraction.ts'
import { otherTax } from './carried-tax.ts'
import { type CategoryTax, taxAtRate, taxOfCategory } from './tax.ts'

const vat = (percentage: string, share: Fraction = WHOLE): CategoryTax =>
  taxOfCategory(taxAtRate('VAT', percentage, share), 'STANDARD')
const line = (key: string, quantity: string, tax?: CategoryTax): AmountLine => ({
  key,
  quantity: decimal(quantity),
  taxCategory: 'STANDARD',
  ...(tax ? { tax } : {}),
})
const compute = (lines: readonly AmountLine[], given: Partial<AmountInput> = {}): InvoiceAmounts =>
  computeAmounts({
    currency: 'EUR',
    amountType: 'EXCLUDING_TAX',
    rounding: 'DEFAULT',
    tax: taxAtRate('VAT', '0'),
    sign: 'INVOICE',
    lines,
    ...given,
  })
const summariesOf = ({ summaries }: InvoiceAmounts): string[] =>
  summaries.map(
    ({ name, percentage, baseAmount, taxAmount }) =>
      `${name} ${plain(percentage)}: ${plain(baseAmount.quantity)} + ${plain(taxAmount.quantity)}`,
  )

describe('a line that carries a tax of its own', () => {
  test('has it, and its summary follows that of the invoice', () => {
    const amounts = compute([line('refund', '-50', vat('21')), line('fee', '100')])
    expect(summariesOf(amounts)).toEqual(['No tax 0: 100 + 0', 'VAT 21: -50 + -10.5'])
    expect(amounts.lines.map(({ key, taxes }) => [key, ...taxes.map(({ summary }) => summary)])).toEqual([
      ['refund', 1],
      ['fee', 0],
    ])
    expect(plain(amounts.totals.total.quantity)).toBe('39.5')
  })

  test('is of the summary of the invoice where that tax is the same', () => {
    expect(
      summariesOf(compute([line('refund', '-50', vat('21')), line('fee', '100')], { tax: taxAtRate('VAT', '21') })),
    ).toEqual(['VAT 21: 50 + 10.5'])
  })

  test('keeps its gross where prices include tax', () => {
    const amounts = compute([line('refund', '-60.50', vat('21')), line('fee', '100')], {
      amountType: 'INCLUDING_TAX',
      tax: taxAtRate('VAT', '25'),
    })
    expect(summariesOf(amounts)).toEqual(['VAT 25: 80 + 20', 'VAT 21: -50 + -10.5'])
    expect(plain(amounts.totals.total.quantity)).toBe('39.5')
  })

  test('has the taxable part that it carries, and the rests that were not taxed are one summary', () => {
    const half = fraction(1, 2)
    const refund = line('refund', '-50', vat('21', fraction(3, 5)))
    const same = compute([refund, line('fee', '100')], { tax: taxAtRate('VAT', '21', half) })
    expect(summariesOf(same)).toEqual(['VAT 21: 20 + 4.2', 'VAT 0: 30 + 0'])
    const other = compute([refund, line('fee', '100')], { tax: taxAtRate('VAT', '25', half) })
    expect(summariesOf(other)).toEqual(['VAT 25: 50 + 12.5', 'VAT 0: 30 + 0', 'VAT 21: -30 + -6.3'])
    expect(other.lines.map(({ taxes }) => taxes.map(({ summary }) => summary))).toEqual([
      [2, 1],
      [0, 1],
    ])
    const whole = compute([refund, line('fee', '100')], { tax: taxAtRate('VAT', '21') })
    expect(summariesOf(whole)).toEqual(['VAT 21: 70 + 14.7', 'VAT 0: -20 + 0'])
    expect(whole.lines.map(({ taxes }) => taxes.length)).toEqual([2, 1])
  })
})

test('a tax differs from that of the invoice by its name, its percentage or its taxable part', () => {
  const decision = taxAtRate('VAT', '21', fraction(1, 2))
  const isOther = (tax: CategoryTax) => otherTax({ taxCategory: 'STANDARD', tax }, decision) !== null
  expect(isOther(vat('21', fraction(2, 4)))).toBe(false)
  expect([vat('21'), vat('20', fraction(1, 2)), { ...vat('21', fraction(1, 2)), name: 'MwSt.' }].map(isOther)).toEqual([
    true,
    true,
    true,
  ])
})

test('whatever lines carry, lines add up to summaries and summaries to totals', () => {
  const share = fc.integer({ min: 0, max: 4 }).map(part => fraction(part, 4))
  const tax = fc
    .tuple(fc.constantFrom('0', '19', '21', '25.5'), share)
    .map(([percentage, part]) => vat(percentage, part))
  const cents = fc.integer({ min: -100_000, max: 100_000 }).map(value => plain(decimal(String(value)).div('100')))
  const lines = fc
    .array(fc.tuple(cents, fc.option(tax, { nil: undefined })), { minLength: 1, maxLength: 8 })
    .map(all => all.map(([quantity, carried], place) => line(`line ${place}`, quantity, carried)))
  const types = fc.constantFrom('EXCLUDING_TAX' as const, 'INCLUDING_TAX' as const)
  const invoice = fc.tuple(fc.constantFrom('0', '21'), share).map(([rate, part]) => taxAtRate('VAT', rate, part))
  fc.assert(
    fc.property(lines, types, invoice, (given, amountType, decision) => {
      const amounts = compute(given, { amountType, tax: decision })
      const total = (of: readonly Decimal[]) => plain(sum(of))
      const { summaries, totals } = amounts
      const names = summaries.map(({ name, percentage, notes }) => JSON.stringify([name, percentage, notes]))
      expect(new Set(names).size).toBe(names.length)
      expect(total(summaries.map(each => each.totalAmount.quantity))).toBe(plain(totals.total.quantity))
      for (const [place, summary] of summaries.entries()) {
        const parts = amounts.lines.flatMap(({ taxes }) => taxes.filter(each => each.summary === place))
        expect(total(parts.map(({ base }) => base.quantity))).toBe(plain(summary.baseAmount.quantity))
        expect(total(parts.map(each => each.tax.quantity))).toBe(plain(summary.taxAmount.quantity))
      }
      for (const priced of amounts.lines) {
        const gross = priced.amountExcludingTax.quantity.plus(priced.taxAmount.quantity)
        expect(plain(gross)).toBe(plain(priced.amountIncludingTax.quantity))
        expect(total(priced.taxes.map(({ base }) => base.quantity))).toBe(plain(priced.amountExcludingTax.quantity))
      }
    }),
  )
})
