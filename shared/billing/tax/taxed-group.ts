// The lines of one tax: their net and tax, and the summaries of both. Lines of a tax category have the tax of the invoice, or one
// that they carry (`carried-tax.ts`).
import { type Decimal, plain, sum, ZERO } from '../../decimal.ts'
import { groupBy } from '../../group-by.ts'
import { type Amount, addMoney, allocate, amount, type Money, negateMoney, roundToTotal, toMoney } from '../../money.ts'
import type { PausingWork } from '../../pausing-work.ts'
import { type Fraction, fraction, isWhole, timesFraction } from '../fraction.ts'
import { taxText } from './carried-tax.ts'
import {
  type CategoryTax,
  TAX_CATEGORIES,
  type TaxCategory,
  type TaxDecided,
  type TaxNote,
  taxOfCategory,
} from './tax.ts'

export type RoundingMode = 'DEFAULT' | 'UNROUNDED'
export type AmountType = 'EXCLUDING_TAX' | 'INCLUDING_TAX'

/** A line before tax. Its quantity is exact, in the invoice currency, and includes tax when the prices do. */
export type AmountLine = {
  readonly key: string
  readonly quantity: Decimal
  readonly taxCategory: TaxCategory
  /** The tax that it carries, where that is not the invoice's. */
  readonly tax?: CategoryTax
}

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

/** The lines of a category that have the same tax. */
export type TaxGroup = {
  readonly category: TaxCategory
  readonly tax: CategoryTax
  readonly lines: readonly AmountLine[]
}

/** By category, and in each the tax of the invoice before those that lines carry. */
export function taxGroups({ tax, lines }: Pick<AmountInput, 'tax' | 'lines'>): TaxGroup[] {
  return TAX_CATEGORIES.flatMap(category => {
    const own = lines.filter(line => line.taxCategory === category)
    const ofInvoice = taxOfCategory(tax, category)
    if (own.every(line => line.tax === undefined))
      return own.length === 0 ? [] : [{ category, tax: ofInvoice, lines: own }]
    const groups = new Map<string, { readonly tax: CategoryTax; readonly lines: AmountLine[] }>([
      [taxText(ofInvoice), { tax: ofInvoice, lines: [] }],
    ])
    for (const line of own) {
      const found = line.tax ?? ofInvoice
      const known = groups.get(taxText(found))
      if (known) known.lines.push(line)
      else groups.set(taxText(found), { tax: found, lines: [line] })
    }
    return [...groups.values()].filter(group => group.lines.length > 0).map(group => ({ category, ...group }))
  })
}

type GroupInput = {
  readonly input: AmountInput
  readonly group: TaxGroup
  /** The group's part of the invoice total, in the amount type of the prices. */
  readonly printed: Money
  /** The summaries of the groups before it: its own are added. */
  readonly summaries: TaxSummary[]
}

/** Lines of the group with one taxable share: usually all of them. */
type Part = { readonly share: Fraction; readonly rate: Fraction; readonly lines: readonly AmountLine[] }

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

const shareOf = ({ tax }: TaxGroup, line: AmountLine): Fraction => (line.tax ?? tax).taxableShare

function partsOf(group: TaxGroup): Part[] {
  const byShare = groupBy(group.lines, line => shareText(shareOf(group, line)))
  return [...byShare.values()].flatMap(lines => {
    const [first] = lines
    if (!first) return []
    const share = shareOf(group, first)
    return [{ share, rate: effectiveRate(share, group.tax.percentage), lines }]
  })
}

const shareText = (share: Fraction): string =>
  isWhole(share) ? '1' : `${plain(share.numerator)}/${plain(share.denominator)}`

type Figures = { readonly net: Money; readonly tax: Money; readonly taxableBase: Money }

/**
 * Net, tax and taxed part of a group. When prices exclude tax, tax is the percentage of the printed base, so that a
 * reader can check it. When they include tax, the gross is fixed and tax is the gross less the net.
 */
function figuresOf({ input, group, printed }: GroupInput, parts: readonly Part[]): Figures {
  const exact = parts.map(({ lines }) => sum(lines.map(({ quantity }) => quantity)))
  const totals = parts.length === 1 ? [printed] : roundToTotal(exact, printed)
  const shareOfParts = (nets: readonly Money[]): Money =>
    addMoney(
      nets.map((net, index) => shareOfMoney(net, parts[index]?.share ?? group.tax.taxableShare)),
      input.currency,
    )
  if (input.amountType === 'INCLUDING_TAX') {
    const nets = parts.map(({ rate }, index) =>
      toMoney(amount(timesFraction(totals[index]?.quantity ?? ZERO, netOfGross(rate)), input.currency)),
    )
    const net = addMoney(nets, input.currency)
    return { net, tax: minus(printed, net), taxableBase: shareOfParts(nets) }
  }
  const taxableBase = shareOfParts(totals)
  const tax = toMoney(amount(taxableBase.quantity.times(group.tax.percentage).times('0.01'), input.currency))
  return { net: printed, tax, taxableBase }
}

/** Rounds exact parts to a printed total in DEFAULT mode; UNROUNDED keeps them exact. */
function spread(input: AmountInput, exact: readonly Decimal[], total: Money): readonly Amount[] {
  return input.rounding === 'DEFAULT' ? roundToTotal(exact, total) : exact.map(value => amount(value, input.currency))
}

/** Where the summaries of a group are on the invoice; `rest` is that of the untaxed part of a partial exemption. */
type Places = { readonly taxed: number; readonly rest: number | null }

function* pricedLines({ input, group }: GroupInput, figures: Figures, at: Places): PausingWork<PricedLine[]> {
  const { category, lines } = group
  const shares = lines.map(line => shareOf(group, line))
  const rates = shares.map(share => effectiveRate(share, group.tax.percentage))
  const ofEach = (values: readonly Decimal[], by: readonly Fraction[]): Decimal[] =>
    values.map((value, index) => timesFraction(value, by[index] ?? group.tax.taxableShare))
  const given = lines.map(line => line.quantity)
  const including = input.amountType === 'INCLUDING_TAX'
  const nets = including
    ? spread(input, ofEach(given, rates.map(netOfGross)), figures.net)
    : given.map(net => amount(net, input.currency))
  yield
  const exactNets = nets.map(({ quantity }) => quantity)
  const addedTaxes = including ? [] : spread(input, ofEach(exactNets, rates), figures.tax)
  yield
  const bases = spread(input, ofEach(exactNets, shares), figures.taxableBase)
  yield
  const exact = (quantity: Decimal): Amount => amount(quantity, input.currency)
  return lines.map((line, index) => {
    const net = exactNets[index] ?? ZERO
    const tax = including ? line.quantity.minus(net) : (addedTaxes[index]?.quantity ?? ZERO)
    const base = bases[index]?.quantity ?? ZERO
    const taxed = { summary: at.taxed, base: exact(base), tax: exact(tax) }
    const untaxed = net.minus(base)
    const isPartial = at.rest !== null && !(isWhole(shares[index] ?? group.tax.taxableShare) && untaxed.eq(ZERO))
    return {
      key: line.key,
      taxCategory: category,
      amountExcludingTax: exact(net),
      taxAmount: exact(tax),
      amountIncludingTax: exact(net.plus(tax)),
      taxes: isPartial ? [taxed, { summary: at.rest, base: exact(untaxed), tax: exact(ZERO) }] : [taxed],
    }
  })
}

/** Adds the summaries of a group. The untaxed rests of several groups are one summary. */
function addSummaries({ group, summaries }: GroupInput, { net, tax, taxableBase }: Figures): Places {
  const { category, lines } = group
  const { name, percentage, rates, notes, restNotes } = group.tax
  const parts =
    rates.length === 0
      ? []
      : allocate(
          tax,
          rates.map(rate => rate.percentage),
        )
  const taxed = summaries.push({
    category,
    name,
    percentage,
    baseAmount: taxableBase,
    taxAmount: tax,
    totalAmount: plus(taxableBase, tax),
    rates: rates.map((rate, index) => ({ taxAmount: parts[index] ?? tax, ...rate })),
    notes,
  })
  if (lines.every(line => isWhole(shareOf(group, line)))) return { taxed: taxed - 1, rest: null }
  const base = minus(net, taxableBase)
  const rest = { category, name, percentage: ZERO, notes: restNotes }
  const place = summaries.findIndex(each => each.category === category && taxText(each) === taxText(rest))
  const known = summaries[place]
  const baseAmount = known ? plus(known.baseAmount, base) : base
  const summary = { ...rest, baseAmount, taxAmount: minus(tax, tax), totalAmount: baseAmount, rates: [] }
  if (!known) return { taxed: taxed - 1, rest: summaries.push(summary) - 1 }
  summaries[place] = summary
  return { taxed: taxed - 1, rest: place }
}

/** The lines of a group with their tax; its summaries are added to those before it. */
export function* priceGroup(of: GroupInput): PausingWork<PricedLine[]> {
  const figures = figuresOf(of, partsOf(of.group))
  return yield* pricedLines(of, figures, addSummaries(of, figures))
}
