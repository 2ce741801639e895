import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum, ZERO } from '../decimal.ts'
import { type Amount, amount, toMoney } from '../money.ts'
import { type AmountInput, type AmountLine, computeAmounts, type InvoiceAmounts } from './amount-pipeline.ts'
import { fraction } from './fraction.ts'
import { TAX_CATEGORIES, type TaxCategory, type TaxDecided, taxAtRate } from './tax/tax.ts'

const lines = (...of: (string | [string, TaxCategory])[]): AmountLine[] =>
  of.map((given, index) => {
    const [quantity, taxCategory] = typeof given === 'string' ? ([given, 'STANDARD'] as const) : given
    return { key: `line ${index}`, quantity: decimal(quantity), taxCategory }
  })
const compute = (of: readonly AmountLine[], given: Partial<AmountInput> = {}): InvoiceAmounts =>
  computeAmounts({
    currency: 'EUR',
    amountType: 'EXCLUDING_TAX',
    rounding: 'DEFAULT',
    tax: taxAtRate('VAT', '21'),
    sign: 'INVOICE',
    lines: of,
    ...given,
  })
const q = (value: Amount): string => plain(value.quantity)
const totals = ({ totals: { base, tax, total } }: InvoiceAmounts): string[] => [base, tax, total].map(q)
const QUEBEC: TaxDecided = {
  ...taxAtRate('GST', '5'),
  rates: [
    { name: 'GST', percentage: decimal('5') },
    { name: 'QST', percentage: decimal('9.975') },
  ],
}

/** Amounts as text, those of a credit with the other sign. */
const shown = (value: unknown, isCredit: boolean): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, text: unknown) => {
      if (typeof text !== 'string' || (key !== 'quantity' && key !== 'percentage')) return text
      const quantity = decimal(text)
      return plain(isCredit && key === 'quantity' ? ZERO.minus(quantity) : quantity)
    }),
  )

describe('worked examples', () => {
  const cases: readonly [string, AmountLine[], Partial<AmountInput>, string[]][] = [
    ['G: 165 net at 21 %', lines('165'), {}, ['165', '34.65', '199.65']],
    ['5.4: 70 net at 21 %', lines('70'), {}, ['70', '14.7', '84.7']],
    [
      'I: three lines of 0.333, DEFAULT',
      lines('0.333', '0.333', '0.333'),
      { tax: taxAtRate('VAT', '0') },
      ['0.99', '0', '0.99'],
    ],
    [
      'I: three lines of 0.333, UNROUNDED',
      lines('0.333', '0.333', '0.333'),
      { tax: taxAtRate('VAT', '0'), rounding: 'UNROUNDED' },
      ['1', '0', '1'],
    ],
    [
      'I: 100.00 including 19 %',
      lines('100'),
      { amountType: 'INCLUDING_TAX', tax: taxAtRate('VAT', '19') },
      ['84.03', '15.97', '100'],
    ],
    ['5.4: 121 including 21 %', lines('121'), { amountType: 'INCLUDING_TAX' }, ['100', '21', '121']],
    ['F as an invoice line', lines('45'), {}, ['45', '9.45', '54.45']],
    ['a deduction outweighs', lines('10', '-25'), {}, ['-15', '-3.15', '-18.15']],
    ['charges and deductions cancel', lines('10', '-10'), {}, ['0', '0', '0']],
    ['half a cent up, away from zero', lines('0.125'), {}, ['0.13', '0.03', '0.16']],
    ['yen', lines('100.4', '100.5'), { currency: 'JPY', tax: taxAtRate('Tax', '10') }, ['201', '20', '221']],
    ['no lines', [], {}, ['0', '0', '0']],
  ]
  test.each(cases)('%s', (_name, of, given, expected) => expect(totals(compute(of, given))).toEqual(expected))

  test('tax of a summary is spread over its lines to the cent', () => {
    const { lines: priced, summaries } = compute(lines('0.10', '0.10', '0.10'))
    expect(priced.map(line => [q(line.amountExcludingTax), q(line.taxAmount), q(line.amountIncludingTax)])).toEqual([
      ['0.1', '0.02', '0.12'],
      ['0.1', '0.02', '0.12'],
      ['0.1', '0.02', '0.12'],
    ])
    expect(summaries.map(summary => [q(summary.baseAmount), q(summary.taxAmount)])).toEqual([['0.3', '0.06']])
  })

  test('each tax category has its summary, and lines keep the order given', () => {
    const result = compute(lines(['5', 'EXEMPT'], '10', ['3', 'NO_TAX'], '20'))
    expect(
      result.summaries.map(({ category, name, percentage, baseAmount, taxAmount, notes }) => [
        category,
        name,
        plain(percentage),
        q(baseAmount),
        q(taxAmount),
        notes.map(note => note.code).join(),
      ]),
    ).toEqual([
      ['STANDARD', 'VAT', '21', '30', '6.3', ''],
      ['NO_TAX', 'No tax', '0', '3', '0', 'NO_TAX'],
      ['EXEMPT', 'Exempt', '0', '5', '0', 'EXEMPT'],
    ])
    expect(result.lines.map(line => line.key)).toEqual(['line 0', 'line 1', 'line 2', 'line 3'])
    expect(result.lines.map(line => line.taxes.map(tax => tax.summary))).toEqual([[2], [0], [1], [0]])
    expect(totals(result)).toEqual(['38', '6.3', '44.3'])
  })

  test('Quebec shows its two taxes, which sum to the one', () => {
    const [summary] = compute(lines('0.90'), { currency: 'CAD', tax: QUEBEC }).summaries
    expect(summary && q(summary.taxAmount)).toBe('0.13')
    expect(summary?.rates.map(rate => [rate.name, plain(rate.percentage), q(rate.taxAmount)])).toEqual([
      ['GST', '5', '0.04'],
      ['QST', '9.975', '0.09'],
    ])
  })

  test('a partial exemption taxes its share and shows the rest in one summary at 0 %', () => {
    const tax = taxAtRate('Sales tax', '8', fraction(3, 4))
    const result = compute(lines('60', '40'), { currency: 'USD', tax })
    expect(
      result.summaries.map(({ percentage, baseAmount, taxAmount, notes }) => [
        plain(percentage),
        q(baseAmount),
        q(taxAmount),
        notes.map(note => note.code).join(),
      ]),
    ).toEqual([
      ['8', '75', '6', ''],
      ['0', '25', '0', 'PARTIALLY_EXEMPT'],
    ])
    expect(totals(result)).toEqual(['100', '6', '106'])
    expect(result.lines[0]?.taxes.map(part => [part.summary, q(part.base), q(part.tax)])).toEqual([
      [0, '45', '3.6'],
      [1, '15', '0'],
    ])
  })

  test('UNROUNDED keeps the lines exact', () => {
    const { lines: priced } = compute(lines('0.0333', '10'), { rounding: 'UNROUNDED' })
    expect(priced.map(line => [q(line.amountExcludingTax), q(line.taxAmount), q(line.amountIncludingTax)])).toEqual([
      ['0.0333', '0.006993', '0.040293'],
      ['10', '2.1', '12.1'],
    ])
  })
})

test.each<[string, string, AmountInput['rounding'], string[]]>([
  ['a tenth of a cent, rounded line by line', '0.001', 'DEFAULT', ['0', '0', '0']],
  ['a tenth of a cent, rounded in total', '0.001', 'UNROUNDED', ['10', '2.1', '12.1']],
  ['half a cent, rounded line by line', '0.005', 'DEFAULT', ['100', '21', '121']],
  ['half a cent, rounded in total', '0.005', 'UNROUNDED', ['50', '10.5', '60.5']],
])('10,000 lines of %s', (_title, quantity, rounding, expected) => {
  const result = compute(lines(...Array.from({ length: 10_000 }, () => quantity)), { rounding })
  expect(totals(result)).toEqual(expected)
  expect(plain(sum(result.lines.map(line => line.taxAmount.quantity)))).toBe(expected[1])
})

const cents = fc.integer({ min: -100_000_000, max: 100_000_000 }).map(value => decimal(`${value}e-5`))
const anyLines = fc.array(fc.record({ quantity: cents, taxCategory: fc.constantFrom(...TAX_CATEGORIES) }), {
  maxLength: 8,
})
const anyTax = fc.oneof(
  fc.constant(QUEBEC),
  fc
    .record({ rate: fc.integer({ min: 0, max: 3000 }), part: fc.integer({ min: 0, max: 7 }) })
    .map(({ rate, part }) => taxAtRate('VAT', plain(decimal(`${rate}e-2`)), part > 6 ? undefined : fraction(part, 6))),
)
const anyInput = fc
  .record({
    of: anyLines,
    tax: anyTax,
    amountType: fc.constantFrom('EXCLUDING_TAX', 'INCLUDING_TAX'),
    currency: fc.constantFrom('EUR', 'JPY', 'KWD'),
  })
  .map(({ of, ...rest }) => ({ ...rest, lines: of.map((line, index) => ({ ...line, key: String(index) })) }))
const add = (values: readonly Amount[]): Decimal => sum(values.map(value => value.quantity))
const same = (a: Decimal, b: Decimal): void => expect(plain(a)).toBe(plain(b))

describe('laws', () => {
  test('lines sum to summaries and summaries to totals, and every figure is rounded money', () => {
    fc.assert(
      fc.property(anyInput, input => {
        const { lines: of, ...rest } = input
        const { lines: priced, summaries, totals: all } = compute(of, rest)
        same(add(summaries.map(summary => summary.baseAmount)), all.base.quantity)
        same(add(summaries.map(summary => summary.taxAmount)), all.tax.quantity)
        same(add(summaries.map(summary => summary.totalAmount)), all.total.quantity)
        same(add(priced.map(line => line.amountExcludingTax)), all.base.quantity)
        same(add(priced.map(line => line.taxAmount)), all.tax.quantity)
        same(add(priced.map(line => line.amountIncludingTax)), all.total.quantity)
        for (const [index, summary] of summaries.entries()) {
          const parts = priced.flatMap(line => line.taxes.filter(part => part.summary === index))
          same(add(parts.map(part => part.base)), summary.baseAmount.quantity)
          same(add(parts.map(part => part.tax)), summary.taxAmount.quantity)
          if (summary.rates.length > 0) same(add(summary.rates.map(rate => rate.taxAmount)), summary.taxAmount.quantity)
        }
        for (const line of priced) {
          for (const figure of [line.amountExcludingTax, line.taxAmount, line.amountIncludingTax]) {
            same(toMoney(figure).quantity, figure.quantity)
          }
          same(add(line.taxes.map(part => part.base)), line.amountExcludingTax.quantity)
          same(add(line.taxes.map(part => part.tax)), line.taxAmount.quantity)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('excluding tax, tax is the percentage of the printed base; including tax, the gross is the sum of the lines', () => {
    fc.assert(
      fc.property(anyInput, input => {
        const { lines: of, ...rest } = input
        const { summaries, totals: all } = compute(of, rest)
        const gross = sum(of.map(line => toMoney(amount(line.quantity, input.currency)).quantity))
        if (input.amountType === 'INCLUDING_TAX') same(all.total.quantity, gross)
        else {
          same(all.base.quantity, gross)
          for (const { baseAmount, percentage, taxAmount } of summaries) {
            const tax = amount(baseAmount.quantity.times(percentage).div('100'), input.currency)
            same(toMoney(tax).quantity, taxAmount.quantity)
          }
        }
      }),
    )
  })

  test('UNROUNDED totals are within one smallest unit of the exact sum', () => {
    fc.assert(
      fc.property(anyInput, input => {
        const { lines: of, ...rest } = input
        const { totals: all, summaries } = compute(of, { ...rest, currency: 'EUR', rounding: 'UNROUNDED' })
        const printed = input.amountType === 'INCLUDING_TAX' ? all.total : all.base
        expect(
          printed.quantity
            .minus(sum(of.map(line => line.quantity)))
            .abs()
            .lte('0.005'),
        ).toBe(true)
        same(add(summaries.map(summary => summary.totalAmount)), all.total.quantity)
      }),
    )
  })

  test('a credit is the mirror image of its invoice', () => {
    fc.assert(
      fc.property(anyInput, fc.constantFrom('DEFAULT', 'UNROUNDED'), (input, rounding) => {
        const { lines: of, ...rest } = input
        const invoice = compute(of, { ...rest, rounding })
        const credit = compute(of, { ...rest, rounding, sign: 'CREDIT' })
        // Every amount has the other sign, those of each line's taxes and of each authority too; all else is the same.
        expect(shown(credit, true)).toEqual(shown(invoice, false))
      }),
    )
  })
})
