// Discounts, coupons, minimums, wallets, taxes and rounding in the forms that the test suites of other billing systems have. Each case
// quotes the rule that decides it. The figures come from a program of its own, which knows only those rules and computes with fractions.
import { expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../../shared/decimal.ts'
import { exampleInvoices } from '../example-inputs.ts'
import { idsOf, inputsOf, scheduleClauses, usageOf, walletsOf } from './case-inputs.ts'
import { type Case, readCases } from './read-cases.ts'
import { type ShownLine, showInvoice } from './show-invoice.ts'

const CASES = ['discounts', 'coupons', 'minimums', 'taxes', 'rounding'].flatMap(name => readCases(`./${name}.txt`))

test('there are cases, and each has a title of its own', () => {
  expect(CASES.length).toBeGreaterThan(240)
  expect(new Set(CASES.map(({ title }) => title)).size).toBe(CASES.length)
})

const invoicesOf = (of: Case) => exampleInvoices(inputsOf(of), of.invoices.length, usageOf(of), walletsOf(of))

test.each(CASES)('$title', of => {
  const invoices = invoicesOf(of)
  const shown = invoices.map(({ content, amount_excluding_tax, tax_amount, amount_including_tax }) =>
    showInvoice(
      of,
      {
        lines: content.periods.flatMap(({ groups }) => groups.flatMap(group => group.lines)) as readonly ShownLine[],
        totals: [amount_excluding_tax, tax_amount, amount_including_tax],
        ...(content.tax_summary.local_amounts ? { local: content.tax_summary.local_amounts } : {}),
      },
      numbersOf(of),
    ),
  )
  expect(shown).toEqual(of.invoices)
  // Priced again, it is the same to the byte.
  expect(JSON.stringify(invoicesOf(of))).toBe(JSON.stringify(invoices))
  if (of.settings.has('unrounded')) return
  for (const { content, ...columns } of invoices)
    for (const column of ['amount_excluding_tax', 'amount_including_tax'] as const)
      expect(plain(sumOf(content, column)), column).toBe(columns[column])
})

const sumOf = (
  { periods }: ReturnType<typeof invoicesOf>[number]['content'],
  column: 'amount_excluding_tax' | 'amount_including_tax',
) =>
  sum(periods.flatMap(({ groups }) => groups.flatMap(({ lines }) => lines.map(line => decimal(line[column].quantity)))))

function numbersOf(of: Case): (line: ShownLine) => number {
  const { numbers } = scheduleClauses(of, idsOf(of))
  return ({ clause = '', coupon_data, details }) =>
    // Of several minimums that complete each other, the first one.
    numbers.get(clause.split(' ')[0] ?? '') ??
    Number((coupon_data?.coupon_id ?? details.wallet_balances?.[0]?.wallet_id ?? '').replace(/\D/g, ''))
}
