// The document of a credit: the credited lines of the original with negative amounts, taxed by the taxes of the
// original whatever the rates are now. Pure.
import { type Decimal, decimal, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { allocate, amount, amountView, moneyView, toMoney } from '../../../../shared/money.ts'
import { localAmounts, localTotals, localView, rateOfAmounts } from '../document/tax/local-amounts.ts'
import { shareNamed, summaryOfShare } from '../document/tax/summary-of-share.ts'
import type { InvoiceContent, LineView, MoneyView, TaxAmountsView, TaxCategoryView, TaxShareView } from '../schema.ts'
import { creditShares, type Share } from './credit-amounts.ts'
import { linesOfContent } from './credit-left.ts'
import type { Left, SelectionOf } from './credit-selection.ts'

export type CreditTotals = { readonly net: Decimal; readonly tax: Decimal }

export type CreditDocument = {
  readonly content: InvoiceContent
  /** What is credited; positive for what was charged. */
  readonly totals: CreditTotals
  /** By the id of the line: what is credited of it. */
  readonly lines: ReadonlyMap<string, CreditTotals>
}

const totalsOf = (shares: readonly Share[]): CreditTotals => ({
  net: sum(shares.map(({ base }) => base)),
  tax: sum(shares.map(({ tax }) => tax)),
})

/** `credits`: the documents of the earlier credits. */
type CreditOf = SelectionOf & { readonly credits?: readonly Pick<InvoiceContent, 'tax_categories'>[] }

/**
 * Builds the content of a credit of these amounts. `rest`: the remaining totals of the original, when everything left
 * is credited.
 */
export function creditDocument(
  of: CreditOf,
  chosen: ReadonlyMap<string, Decimal>,
  rest: CreditTotals | null,
): CreditDocument {
  const shares: Left = new Map([...chosen].map(([id, wanted]) => [id, creditShares(of.left.get(id) ?? [], wanted, of)]))
  const view = viewer(of)
  const sums = (lines: readonly LineView[]) => {
    const { net, tax } = totalsOf(lines.flatMap(({ id }) => shares.get(id) ?? []))
    return {
      amount_excluding_tax: view(net),
      amount_including_tax: view(net.plus(tax)),
      tax_categories: taxesOf(of, lines, shares),
    }
  }
  const credited = linesOfContent(of.content).filter(({ id }) => shares.has(id))
  const periods = of.content.periods
    .map(period => ({
      ...period,
      groups: period.groups
        .map(group => ({ ...group, lines: group.lines.filter(({ id }) => shares.has(id)) }))
        .filter(({ lines }) => lines.length > 0)
        .map((group, group_order) => ({
          ...group,
          ...sums(group.lines),
          group_order,
          lines: group.lines.map((line, line_order) => lineOf(line, line_order, { ...sums([line]), view })),
        })),
    }))
    .filter(({ groups }) => groups.length > 0)
    .map((period, period_order) => ({
      ...period,
      ...sums(credited.filter(({ id }) => linesOfContent({ periods: [period] }).some(line => line.id === id))),
      period_order,
    }))
  const printed = (quantity: Decimal) => toMoney(amount(quantity, of.currency))
  const exact = totalsOf(credited.flatMap(({ id }) => shares.get(id) ?? []))
  // Totals are whole cents, also where the lines are UNROUNDED, so that net and tax add up to what is printed.
  const totals = rest ?? { net: printed(exact.net).quantity, tax: printed(exact.tax).quantity }
  const money = (quantity: Decimal): MoneyView => moneyView(printed(quantity.neg()))
  const { wallet_balances: _paid, ...content } = of.content
  const { local_amounts: _local, ...summary } = of.content.tax_summary
  const taxes = summaries(of, taxesOf(of, credited, shares))
  return {
    content: {
      ...content,
      periods,
      tax_categories: taxes,
      tax_summary: {
        ...summary,
        base_amount: money(totals.net),
        tax_amount: money(totals.tax),
        total_amount: money(totals.net.plus(totals.tax)),
        ...localTotals(taxes),
      },
      validation_result: [],
    },
    totals,
    lines: new Map(credited.map(({ id }) => [id, totalsOf(shares.get(id) ?? [])])),
  }
}

/** Negative, because it is a credit. */
const viewer =
  ({ content, currency }: SelectionOf) =>
  (quantity: Decimal): MoneyView => {
    const value = amount(quantity.eq(ZERO) ? ZERO : quantity.neg(), currency)
    return content.rounding_mode === 'DEFAULT' ? moneyView(toMoney(value)) : amountView(value)
  }

type LineAmounts = Pick<LineView, 'amount_excluding_tax' | 'amount_including_tax' | 'tax_categories'> & {
  readonly view: (quantity: Decimal) => MoneyView
}

/**
 * Nothing that explained the price of the original explains a part of it, so only the amount is kept in the details.
 */
function lineOf(
  { sub_lines: _parts, meter_value: _volume, ...line }: LineView,
  line_order: number,
  of: LineAmounts,
): LineView {
  const { view: _view, ...amounts } = of
  const { pricing_currency, description } = line.details
  return {
    ...line,
    ...amounts,
    line_order,
    details: {
      amount: amounts.amount_excluding_tax,
      pricing_currency,
      pricing_amount: amounts.amount_excluding_tax,
      description,
    },
  }
}

/** The part of each tax that these lines credit, in the order in which the original lists its taxes. */
function taxesOf(of: SelectionOf, lines: readonly LineView[], shares: Left): TaxShareView[] {
  const summaries = of.content.tax_categories
  const sums = new Map<number, Share>()
  for (const line of lines) {
    for (const [index, { base, tax }] of (shares.get(line.id) ?? []).entries()) {
      const share = line.tax_categories[index]
      if (!share) continue
      const place = summaryOfShare(share, summaries)
      const before = sums.get(place) ?? { base: ZERO, tax: ZERO }
      sums.set(place, { base: before.base.plus(base), tax: before.tax.plus(tax) })
    }
  }
  const view = viewer(of)
  return summaries.flatMap((summary, place) => {
    const found = sums.get(place)
    if (!found) return []
    const { base, tax } = found
    const amounts = { base_amount: view(base), tax_amount: view(tax), total_amount: view(base.plus(tax)) }
    return [{ ...amounts, ...shareNamed(summary, summaries) }]
  })
}

/** The summaries of the original with these amounts; the taxes of several authorities keep their proportions. */
function summaries(of: CreditOf, taxes: readonly TaxShareView[]): TaxCategoryView[] {
  const { content, currency } = of
  const originals = content.tax_categories
  const left = new Map(
    taxesOf(of, linesOfContent(content), of.left).map(tax => [summaryOfShare(tax, originals), tax] as const),
  )
  return taxes.map(tax => {
    const place = summaryOfShare(tax, originals)
    const original = originals[place]
    const rates = original?.rates ?? []
    const rounded = toMoney(amount(decimal(tax.tax_amount.quantity), currency))
    const parts =
      rates.length === 0
        ? []
        : allocate(
            rounded,
            rates.map(({ percentage }) => decimal(percentage)),
          )
    const isRest = (['base_amount', 'tax_amount'] as const).every(
      name => left.get(place)?.[name].quantity === tax[name].quantity,
    )
    const local = (isRest && localRest(of, original)) || localPart(original, tax)
    return {
      ...tax,
      ...(local ? { local_amounts: local } : {}),
      notes: original?.notes ?? [],
      rates: rates.map((rate, index) => ({
        ...rate,
        tax_amount: parts[index] ? moneyView(parts[index]) : rate.tax_amount,
      })),
    }
  })
}

/** By the rate of the original, so that what was declared is taken back. */
function localPart(original: TaxCategoryView | undefined, tax: TaxShareView): TaxAmountsView | null {
  const rate = rateOfAmounts(original?.local_amounts)
  if (rate === null) return null
  const [base, taxed] = [decimal(tax.base_amount.quantity), decimal(tax.tax_amount.quantity)]
  return localAmounts(rate, { base, tax: taxed, currency: tax.tax_amount.currency })
}

/** What earlier credits left of what was declared, to the last cent. Null where one of them states no local amounts. */
function localRest({ credits = [] }: CreditOf, original: TaxCategoryView | undefined): TaxAmountsView | null {
  const rate = rateOfAmounts(original?.local_amounts)
  if (!original || rate === null) return null
  const all = [
    original,
    ...credits.flatMap(each => each.tax_categories.filter(tax => summaryOfShare(tax, [original]) === 0)),
  ]
  const stated = all.flatMap(({ local_amounts }) => local_amounts ?? [])
  if (stated.length < all.length) return null
  const rest = (name: 'base_amount' | 'tax_amount') => sum(stated.map(each => decimal(each[name].quantity))).neg()
  return localView(rate, { base: rest('base_amount'), tax: rest('tax_amount') })
}

/** In the form of the invoice's columns. */
export const columnsOfTotals = ({ net, tax }: CreditTotals) => ({
  amount_excluding_tax: plain(net.neg()),
  tax_amount: plain(tax.neg()),
  amount_including_tax: plain(net.plus(tax).neg()),
})
