// Rounds and taxes money: takes exact lines, returns rounded lines, tax summaries and totals (semantics 0.5, 5.4).
// Everything printed adds up: lines to summaries, summaries to totals, net and tax to gross. The steps before tax
// (markups, discounts, commitments, money wallets) are in `steps/apply-clauses.ts`, which makes the lines for this
// file.
import { type Decimal, sum, ZERO } from '../decimal.ts'
import { type Amount, addMoney, allocate, amount, type Money, negateMoney, roundToTotal, toMoney } from '../money.ts'
import { inOneGo, type PausingWork } from '../pausing-work.ts'
import { type Fraction, fraction, isWhole, timesFraction } from './fraction.ts'
import { TAX_CATEGORIES, type TaxCategory, type TaxDecided, type TaxNote, taxOfCategory } from './tax/tax.ts'

export type RoundingMode = 'DEFAULT' | 'UNROUNDED'
export type AmountType = 'EXCLUDING_TAX' | 'INCLUDING_TAX'

/** A line before tax. Its quantity is exact, in the invoice currency, and includes tax when the prices do. */
export type AmountLine = { readonly key: string; readonly quantity: Decimal; readonly taxCategory: TaxCategory }

export type AmountInput = {
  readonly currency: string
  readonly amountType: AmountType
  readonly rounding: RoundingMode
  readonly tax: TaxDecided
  /** CREDIT gives the exact mirror image of the invoice over the same lines. */
  readonly sign: 'INVOICE' | 'CREDIT'
  readonly lines: readonly AmountLine[]
}

/** A line's part of one tax summary. */
export type LineTax = { readonly summary: number; readonly base: Amount; readonly tax: Amount }

export type PricedLine = {
  readonly key: string
  readonly taxCategory: TaxCategory
  /** Rounded in DEFAULT mode, exact in UNROUNDED. */
  readonly amountExcludingTax: Amount
  readonly taxAmount: Amount
  readonly amountIncludingTax: Amount
  readonly taxes: readonly LineTax[]
}

export type TaxSummary = {
  readonly category: TaxCategory
  readonly name: string
  readonly percentage: Decimal
  readonly baseAmount: Money
  readonly taxAmount: Money
  readonly totalAmount: Money
  readonly rates: readonly { readonly name: string; readonly percentage: Decimal; readonly taxAmount: Money }[]
  readonly notes: readonly TaxNote[]
}

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

/** One category after tax: its figures, and those of each of its lines. */
type CategoryAmounts = { readonly summaries: readonly TaxSummary[]; readonly lines: readonly PricedLine[] }

type CategoryInput = {
  readonly input: AmountInput
  readonly category: TaxCategory
  readonly lines: readonly AmountLine[]
  /** The category's part of the invoice total, in the amount type of the prices. */
  readonly printed: Money
  /** The index of the category's first summary on the invoice. */
  readonly firstSummary: number
}

const plus = (a: Money, b: Money): Money => addMoney([a, b], a.currency)
const minus = (a: Money, b: Money): Money => plus(a, negateMoney(b))

/** Tax per unit of net amount: taxable share × percentage. */
const effectiveRate = (share: Fraction, percentage: Decimal): Fraction =>
  fraction(share.numerator.times(percentage), share.denominator.times('100'))

/** The reverse of adding tax: `1 ÷ (1 + rate)`. */
const netOfGross = (rate: Fraction): Fraction => fraction(rate.denominator, rate.denominator.plus(rate.numerator))

const shareOfMoney = (total: Money, share: Fraction): Money => {
  const taxed = timesFraction(total.quantity, share)
  return roundToTotal([taxed, total.quantity.minus(taxed)], total)[0] ?? total
}

type Figures = { readonly net: Money; readonly tax: Money; readonly taxableBase: Money; readonly rate: Fraction }

/**
 * Net, tax and taxed part of a category. When prices exclude tax, tax is the percentage of the printed base, so that a
 * reader can check it. When they include tax, the gross is fixed and tax is the gross less the net.
 */
function figuresOf({ input, category, printed }: CategoryInput): Figures {
  const { percentage, taxableShare } = taxOfCategory(input.tax, category)
  const rate = effectiveRate(taxableShare, percentage)
  if (input.amountType === 'INCLUDING_TAX') {
    const net = toMoney(amount(timesFraction(printed.quantity, netOfGross(rate)), input.currency))
    return { net, tax: minus(printed, net), taxableBase: shareOfMoney(net, taxableShare), rate }
  }
  const taxableBase = shareOfMoney(printed, taxableShare)
  const tax = toMoney(amount(taxableBase.quantity.times(percentage).times('0.01'), input.currency))
  return { net: printed, tax, taxableBase, rate }
}

/** Rounds exact parts to a printed total in DEFAULT mode; UNROUNDED keeps them exact. */
function spread(input: AmountInput, exact: readonly Decimal[], total: Money): readonly Amount[] {
  return input.rounding === 'DEFAULT' ? roundToTotal(exact, total) : exact.map(value => amount(value, input.currency))
}

function* pricedLines(of: CategoryInput, figures: Figures): PausingWork<PricedLine[]> {
  const { input, category, lines, firstSummary } = of
  const { taxableShare } = taxOfCategory(input.tax, category)
  const given = lines.map(line => line.quantity)
  const including = input.amountType === 'INCLUDING_TAX'
  const toNet = netOfGross(figures.rate)
  const nets = including
    ? spread(
        input,
        given.map(gross => timesFraction(gross, toNet)),
        figures.net,
      )
    : given.map(net => amount(net, input.currency))
  yield
  const exactTaxes = nets.map(net => timesFraction(net.quantity, figures.rate))
  const addedTaxes = including ? [] : spread(input, exactTaxes, figures.tax)
  yield
  const bases = spread(
    input,
    nets.map(net => timesFraction(net.quantity, taxableShare)),
    figures.taxableBase,
  )
  yield
  const exact = (quantity: Decimal): Amount => amount(quantity, input.currency)
  return lines.map((line, index) => {
    const net = nets[index]?.quantity ?? ZERO
    const tax = including ? line.quantity.minus(net) : (addedTaxes[index]?.quantity ?? ZERO)
    const base = bases[index]?.quantity ?? ZERO
    const taxed = { summary: firstSummary, base: exact(base), tax: exact(tax) }
    const rest = { summary: firstSummary + 1, base: exact(net.minus(base)), tax: exact(ZERO) }
    return {
      key: line.key,
      taxCategory: category,
      amountExcludingTax: exact(net),
      taxAmount: exact(tax),
      amountIncludingTax: exact(net.plus(tax)),
      taxes: isWhole(taxableShare) ? [taxed] : [taxed, rest],
    }
  })
}

function summariesOf({ input, category }: CategoryInput, figures: Figures): TaxSummary[] {
  const { name, percentage, rates, taxableShare, notes, restNotes } = taxOfCategory(input.tax, category)
  const { net, tax, taxableBase } = figures
  const parts =
    rates.length === 0
      ? []
      : allocate(
          tax,
          rates.map(rate => rate.percentage),
        )
  const taxed: TaxSummary = {
    category,
    name,
    percentage,
    baseAmount: taxableBase,
    taxAmount: tax,
    totalAmount: plus(taxableBase, tax),
    rates: rates.map((rate, index) => ({ taxAmount: parts[index] ?? tax, ...rate })),
    notes,
  }
  if (isWhole(taxableShare)) return [taxed]
  const restBase = minus(net, taxableBase)
  const zero = minus(tax, tax)
  const rest = { category, name, percentage: ZERO, baseAmount: restBase, taxAmount: zero, totalAmount: restBase }
  return [taxed, { ...rest, rates: [], notes: restNotes }]
}

function* priceCategory(of: CategoryInput): PausingWork<CategoryAmounts> {
  const figures = figuresOf(of)
  return { summaries: summariesOf(of, figures), lines: yield* pricedLines(of, figures) }
}

/**
 * The categories' parts of the rounded invoice total. In DEFAULT mode the lines are rounded, so the parts already are.
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
  const used = TAX_CATEGORIES.filter(category => lines.some(line => line.taxCategory === category))
  const groups = used.map(category => lines.filter(line => line.taxCategory === category))
  const printed = printedTotals(input, groups)
  const summaries: TaxSummary[] = []
  const priced = new Map<AmountLine, PricedLine>()
  for (const [index, category] of used.entries()) {
    const group = groups[index] ?? []
    const total = printed[index]
    if (!total) throw new Error(`no total for ${category}`)
    const amounts = yield* priceCategory({
      input,
      category,
      lines: group,
      printed: total,
      firstSummary: summaries.length,
    })
    summaries.push(...amounts.summaries)
    for (const [place, line] of group.entries()) {
      const result = amounts.lines[place]
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
  const amounts = { currency: input.currency, lines: ordered, summaries, totals: { base, tax, total: plus(base, tax) } }
  return input.sign === 'CREDIT' ? mirror(amounts) : amounts
}
