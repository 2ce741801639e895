// Rounds and taxes money: takes exact lines, returns rounded lines, tax summaries and totals (semantics 0.5, 5.4).
// Everything printed adds up: lines to summaries, summaries to totals, net and tax to gross. The steps before tax
// (markups, discounts, commitments, money wallets) are in `steps/apply-clauses.ts`, which makes the lines for this
// file.
import { sum, ZERO } from '../decimal.ts'
import { type Amount, addMoney, amount, type Money, negateMoney, roundToTotal, toMoney } from '../money.ts'
import { inOneGo, type PausingWork } from '../pausing-work.ts'
import {
  type AmountInput,
  type AmountLine,
  type PricedLine,
  priceGroup,
  type TaxSummary,
  taxGroups,
} from './tax/taxed-group.ts'

export type { AmountInput, AmountLine, AmountType, PricedLine, RoundingMode, TaxSummary } from './tax/taxed-group.ts'

export type InvoiceAmounts = {
  readonly currency: string
  readonly lines: readonly PricedLine[]
  readonly summaries: readonly TaxSummary[]
  readonly totals: { readonly base: Money; readonly tax: Money; readonly total: Money }
}

/** DEFAULT rounds each line to the currency; UNROUNDED leaves the rounding to the totals (semantics 0.5). */
const roundLines = ({ lines, rounding, currency }: AmountInput): readonly AmountLine[] =>
  rounding === 'UNROUNDED'
    ? lines
    : lines.map(line => ({ ...line, quantity: toMoney(amount(line.quantity, currency)).quantity }))

/**
 * The groups' parts of the rounded invoice total. In DEFAULT mode the lines are rounded, so the parts already are.
 */
function printedTotals(input: AmountInput, groups: readonly (readonly AmountLine[])[]): Money[] {
  const exact = groups.map(lines => sum(lines.map(line => line.quantity)))
  return exact.length === 0 ? [] : roundToTotal(exact, toMoney(amount(sum(exact), input.currency)))
}

const negateAmount = (value: Amount): Amount => ({
  quantity: value.quantity.eq(ZERO) ? ZERO : value.quantity.neg(),
  currency: value.currency,
})

const mirrorLine = (line: PricedLine): PricedLine => ({
  ...line,
  amountExcludingTax: negateAmount(line.amountExcludingTax),
  taxAmount: negateAmount(line.taxAmount),
  amountIncludingTax: negateAmount(line.amountIncludingTax),
  taxes: line.taxes.map(tax => ({ ...tax, base: negateAmount(tax.base), tax: negateAmount(tax.tax) })),
})

const mirrorSummary = (summary: TaxSummary): TaxSummary => ({
  ...summary,
  baseAmount: negateMoney(summary.baseAmount),
  taxAmount: negateMoney(summary.taxAmount),
  totalAmount: negateMoney(summary.totalAmount),
  rates: summary.rates.map(rate => ({ ...rate, taxAmount: negateMoney(rate.taxAmount) })),
})

function mirror(amounts: InvoiceAmounts): InvoiceAmounts {
  const { base, tax, total } = amounts.totals
  return {
    currency: amounts.currency,
    lines: amounts.lines.map(mirrorLine),
    summaries: amounts.summaries.map(mirrorSummary),
    totals: { base: negateMoney(base), tax: negateMoney(tax), total: negateMoney(total) },
  }
}

/**
 * Rounds and taxes an invoice. Returns lines in the order given, and one summary per category and rate. In DEFAULT mode
 * lines sum to their summaries; in both modes summaries sum to the totals.
 */
export const computeAmounts = (input: AmountInput): InvoiceAmounts => inOneGo(computingAmounts(input))

/** The same, with pauses. */
export function* computingAmounts(input: AmountInput): PausingWork<InvoiceAmounts> {
  const lines = roundLines(input)
  yield
  const groups = taxGroups({ tax: input.tax, lines })
  const printed = printedTotals(
    input,
    groups.map(group => group.lines),
  )
  const summaries: TaxSummary[] = []
  const priced = new Map<AmountLine, PricedLine>()
  for (const [index, group] of groups.entries()) {
    const total = printed[index]
    if (!total) throw new Error(`no total for ${group.category}`)
    const amounts = yield* priceGroup({ input, group, printed: total, summaries })
    for (const [place, line] of group.lines.entries()) {
      const result = amounts[place]
      if (result) priced.set(line, result)
    }
  }
  const base = addMoney(
    summaries.map(summary => summary.baseAmount),
    input.currency,
  )
  const tax = addMoney(
    summaries.map(summary => summary.taxAmount),
    input.currency,
  )
  const ordered = lines.map(line => priced.get(line)).filter(line => line !== undefined)
  const amounts = {
    currency: input.currency,
    lines: ordered,
    summaries,
    totals: { base, tax, total: addMoney([base, tax], input.currency) },
  }
  return input.sign === 'CREDIT' ? mirror(amounts) : amounts
}
