// The difference between an invoice with an event and without it: what the event costs, line by line (semantics 1.4).
// Pure.
import { decimal, sum, ZERO } from '../../../../shared/decimal.ts'
import { amount, amountView, moneyView, toMoney } from '../../../../shared/money.ts'
import type { GroupView, InvoiceContent, LineView, MoneyView, PeriodView, TaxShareView } from '../../invoices/schema.ts'

export type Difference = {
  readonly amount_excluding_tax: MoneyView
  readonly amount_including_tax: MoneyView
  readonly tax_summary: {
    readonly base_amount: MoneyView
    readonly tax_amount: MoneyView
    readonly total_amount: MoneyView
  }
  /** From the invoice with the event: the lines that differ, each with its difference. */
  readonly periods: readonly PeriodView[]
}

type Content = Pick<InvoiceContent, 'periods' | 'tax_summary' | 'rounding_mode'>

/** What `after` has more than `before`; a line that disappeared is included as a negative line. */
export function compareInvoices(before: Content, after: Content, currency: string): Difference {
  const periods = periodsOf(before, after)
  const exact = after.rounding_mode === 'UNROUNDED'
  const [own, then] = [after.tax_summary, before.tax_summary]
  // In UNROUNDED, the exact lines tell what an event costs; an invoice rounds the sum of many of them.
  const excluding = exact ? total(periods, 'amount_excluding_tax', currency) : less(own.base_amount, then.base_amount)
  const including = exact ? total(periods, 'amount_including_tax', currency) : less(own.total_amount, then.total_amount)
  const tax = exact ? less(including, excluding) : less(own.tax_amount, then.tax_amount)
  return {
    amount_excluding_tax: excluding,
    amount_including_tax: including,
    tax_summary: { base_amount: excluding, tax_amount: tax, total_amount: including },
    periods,
  }
}

const total = (
  periods: readonly PeriodView[],
  name: 'amount_excluding_tax' | 'amount_including_tax',
  currency: string,
): MoneyView => amountView(amount(sum(periods.map(period => decimal(period[name].quantity))), currency))

function less(a: MoneyView, b: MoneyView | undefined): MoneyView {
  const value = amount(decimal(a.quantity).minus(b ? decimal(b.quantity) : ZERO), a.currency)
  const rounded = toMoney(value)
  return rounded.quantity.eq(value.quantity) ? moneyView(rounded) : amountView(value)
}
const negated = (value: MoneyView): MoneyView => less({ quantity: '0', currency: value.currency }, value)

type Summed = Pick<PeriodView, 'amount_excluding_tax' | 'amount_including_tax' | 'tax_categories'>

const sharesLess = (a: readonly TaxShareView[], b: readonly TaxShareView[]): TaxShareView[] =>
  a.map(share => {
    const same = b.find(
      each =>
        each.category === share.category &&
        each.percentage === share.percentage &&
        String(each.notes) === String(share.notes),
    )
    return {
      ...share,
      base_amount: less(share.base_amount, same?.base_amount),
      tax_amount: less(share.tax_amount, same?.tax_amount),
      total_amount: less(share.total_amount, same?.total_amount),
    }
  })

const summedLess = <T extends Summed>(a: T, b: Summed | undefined): T => ({
  ...a,
  amount_excluding_tax: less(a.amount_excluding_tax, b?.amount_excluding_tax),
  amount_including_tax: less(a.amount_including_tax, b?.amount_including_tax),
  tax_categories: sharesLess(a.tax_categories, b?.tax_categories ?? []),
})

const periodKey = ({ start_at, end_at }: PeriodView): string => `${start_at} ${end_at}`
const groupKey = ({ type, pricing, description, start_at, end_at }: GroupView): string =>
  [type, pricing?.id, description, start_at, end_at].join(' ')

function periodsOf(before: Content, after: Content): PeriodView[] {
  return bothOf(before.periods, after.periods, periodKey).flatMap(([then, now]) => {
    const of = now ?? then
    const groups = bothOf(then?.groups ?? [], now?.groups ?? [], groupKey).flatMap(([a, b]) => groupOf(a, b))
    if (!of || groups.length === 0) return []
    return [{ ...(now ? summedLess(now, then) : withoutAll(of)), groups }]
  })
}

function groupOf(then: GroupView | undefined, now: GroupView | undefined): GroupView[] {
  const lines = bothOf(then?.lines ?? [], now?.lines ?? [], ({ id }) => id).flatMap(([a, b]) => lineOf(a, b))
  const of = now ? summedLess(now, then) : then && withoutAll(then)
  return of && lines.length > 0 ? [{ ...of, lines }] : []
}

function lineOf(then: LineView | undefined, now: LineView | undefined): LineView[] {
  if (!now) return then ? [withDetails(withoutAll(then), name => negated(then.details[name]))] : []
  const isSame =
    then &&
    then.amount_excluding_tax.quantity === now.amount_excluding_tax.quantity &&
    then.details.meter_value?.number === now.details.meter_value?.number &&
    then.details.meter_value?.amount?.quantity === now.details.meter_value?.amount?.quantity
  return isSame ? [] : [withDetails(summedLess(now, then), name => less(now.details[name], then?.details[name]))]
}

/** Usage and price in the details are those with the event; the amounts are what the event adds. */
function withDetails(line: LineView, of: (name: 'amount' | 'pricing_amount') => MoneyView): LineView {
  const { sub_lines: _ofTheWhole, ...rest } = line
  return { ...rest, details: { ...line.details, amount: of('amount'), pricing_amount: of('pricing_amount') } }
}

const withoutAll = <T extends Summed>(of: T): T => ({
  ...of,
  amount_excluding_tax: negated(of.amount_excluding_tax),
  amount_including_tax: negated(of.amount_including_tax),
  tax_categories: of.tax_categories.map(share => ({
    ...share,
    base_amount: negated(share.base_amount),
    tax_amount: negated(share.tax_amount),
    total_amount: negated(share.total_amount),
  })),
})

/** Pairs by key: first those present after the event, in their order, then those that disappeared. */
function bothOf<T>(
  before: readonly T[],
  after: readonly T[],
  keyOf: (value: T) => string,
): [T | undefined, T | undefined][] {
  const then = new Map(before.map(each => [keyOf(each), each]))
  const now = new Set(after.map(keyOf))
  return [
    ...after.map((each): [T | undefined, T | undefined] => [then.get(keyOf(each)), each]),
    ...before.filter(each => !now.has(keyOf(each))).map((each): [T | undefined, T | undefined] => [each, undefined]),
  ]
}

/** The result for an event that is not counted again: it costs nothing. */
export const noDifference = (currency: string): Difference => {
  const nothing = moneyView(toMoney(amount(ZERO, currency)))
  return {
    amount_excluding_tax: nothing,
    amount_including_tax: nothing,
    tax_summary: { base_amount: nothing, tax_amount: nothing, total_amount: nothing },
    periods: [],
  }
}
