// Lays out the lines of an invoice: periods (the time they pay for), groups (one per pricing and product category) and
// lines, each with its sums and its part of the taxes.
import { hash } from 'node:crypto'
import type { InvoiceAmounts, PricedLine, RoundingMode } from '../../../../shared/billing/amount-pipeline.ts'
import { type Decimal, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { NO_MEMBERS } from '../../../../shared/extended.ts'
import { base62 } from '../../../../shared/ids.ts'
import { amount, amountView, moneyView, toMoney } from '../../../../shared/money.ts'
import { mapPausing, type PausingWork } from '../../../../shared/pausing-work.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { GroupView, LineView, MoneyView, PeriodView, SubLineView, TaxShareView } from '../schema.ts'
import { type DraftLine, groupKey, type LineGroup } from './draft-invoice.ts'
import { shareNamed } from './tax/summary-of-share.ts'

/** A line with its id and its amounts. */
export type LaidLine = { readonly id: string; readonly draft: DraftLine; readonly priced: PricedLine }

export type Figures = {
  /** Who pays for whom, where another customer gets the invoice. */
  readonly forwarded?: { readonly billing_customer_id: string; readonly forwarded_from_customer_id: string }
  readonly amounts: InvoiceAmounts
  readonly rounding: RoundingMode
  /** Whether the prices include tax: the details of a line then explain its amount with tax. */
  readonly includingTax: boolean
  /** Sub lines by the key of their line. */
  readonly subLines: ReadonlyMap<string, readonly SubLineView[] | null>
}

/** The lines in display order: periods by time, groups and lines as given, discounts on the whole invoice last. */
export function periodsOf(lines: readonly LaidLine[]): LaidLine[][][] {
  const periods = groupBy(lines, ({ draft: { service } }) => `${service.start} ${service.end}`)
  return periods
    .toSorted(
      (a, b) =>
        Number(isOfWhole(a)) - Number(isOfWhole(b)) ||
        serviceOf(a).start - serviceOf(b).start ||
        serviceOf(a).end - serviceOf(b).end,
    )
    .map(period => groupBy(period, ({ draft: { group } }) => groupKey(group)))
}

/** Whether a period has only discounts without a single pricing. */
const isOfWhole = (lines: readonly LaidLine[]): boolean =>
  lines.every(({ draft }) => draft.kind !== 'REVENUE' && draft.group.pricing === null)

const firstOf = ([first]: readonly LaidLine[]): DraftLine => {
  if (!first) throw new Error('a group has lines')
  return first.draft
}
const serviceOf = (lines: readonly LaidLine[]) => firstOf(lines).service

/** The periods of an invoice as they are printed. */
export function* layOut(figures: Figures, periods: readonly LaidLine[][][]): PausingWork<PeriodView[]> {
  const laidOut: PeriodView[] = []
  for (const [order, groups] of periods.entries()) {
    const heading = headingOf(figures, groups.flat())
    yield
    // A group that is alone in its period has the same lines.
    const alone = groups.length === 1 ? heading : null
    const views: GroupView[] = []
    for (const [index, group] of groups.entries())
      views.push(yield* groupView(figures, group, { order: index, heading: alone }))
    laidOut.push({ period_order: order, ...heading, groups: views })
  }
  return laidOut
}

/** The sums that periods and groups show for their lines. */
function headingOf(figures: Figures, lines: readonly LaidLine[]) {
  const { service, group } = firstOf(lines)
  return {
    ...NO_MEMBERS,
    ...sums(figures, lines),
    ...(group.billingPeriod === null ? {} : { billing_period: { ...group.billingPeriod } }),
    start_at: formatInstant(service.start),
    end_at: formatInstant(service.end),
    tax_categories: taxShares(
      figures,
      lines.map(({ priced }) => priced),
    ),
  }
}

function typeOf({ pricing, isPayment }: LineGroup, kind: LineView['type']): GroupView['type'] {
  if (pricing) return 'PRICING'
  if (isPayment) return 'WALLET'
  return kind === 'REVENUE' ? 'ONE_OFF' : kind
}

const HEADINGS: Readonly<Partial<Record<GroupView['type'], string>>> = {
  DISCOUNT: 'Discounts',
  COMMITMENT: 'Minimums',
  MARKUP: 'Markups',
}

function headingWithoutPricing(type: GroupView['type'], { product }: LineGroup): string {
  if (type === 'WALLET') return 'Paid by wallets'
  return HEADINGS[type] ?? product?.name ?? 'Other'
}

function* groupView(
  figures: Figures,
  lines: readonly LaidLine[],
  of: { readonly order: number; readonly heading: ReturnType<typeof headingOf> | null },
): PausingWork<GroupView> {
  const { group, kind } = firstOf(lines)
  const type = typeOf(group, kind)
  const products = new Map(
    lines.flatMap(
      ({
        draft: {
          group: { product },
        },
      }) => (product ? [[product.id, product]] : []),
    ),
  )
  return {
    group_order: of.order,
    ...(of.heading ?? headingOf(figures, lines)),
    type,
    ...(group.category ? { product_category: named('PRODUCT_CATEGORY', group.category) } : {}),
    products: [...products.values()].map(product => named('PRODUCT', product)),
    ...(group.pricing ? { pricing: { id: group.pricing.id, name: group.pricing.name } } : {}),
    description: group.pricing?.name ?? headingWithoutPricing(type, group),
    ...(group.subscriptionId === null ? {} : { pricing_plan_subscription_id: group.subscriptionId }),
    ...(group.scheduleId === null ? {} : { pricing_plan_schedule_id: group.scheduleId }),
    ...figures.forwarded,
    lines: yield* mapPausing(lines, (line, index) => lineView(figures, line, index)),
  }
}

function lineView(figures: Figures, line: LaidLine, order: number): LineView {
  const { draft, priced } = line
  const excluding = shown(figures, priced.amountExcludingTax.quantity)
  const including = shown(figures, priced.amountIncludingTax.quantity)
  const subLines = figures.subLines.get(draft.key)
  return {
    id: line.id,
    line_order: order,
    description: draft.description,
    type: draft.kind,
    ...draft.printed,
    tax_categories: taxShares(figures, [line.priced]),
    amount_excluding_tax: excluding,
    amount_including_tax: including,
    details: { amount: figures.includingTax ? including : excluding, ...draft.details },
    ...(subLines ? { sub_lines: [...subLines] } : {}),
  }
}

/** The id of a line follows from its key, so it does not change when the invoice is computed again. */
export const lineId = (key: string): string => `inli_${base62(hash('sha256', key, 'buffer').subarray(0, 16))}`

const named = (objectType: string, { id, name }: { id: string; name: string }) => ({
  object_type: objectType,
  id,
  name,
})

/** Rounded figures have the decimals of the currency; UNROUNDED ones are shown exactly. */
export function shown({ amounts, rounding }: Pick<Figures, 'amounts' | 'rounding'>, quantity: Decimal): MoneyView {
  const value = amount(quantity, amounts.currency)
  return rounding === 'DEFAULT' ? moneyView(toMoney(value)) : amountView(value)
}

const sums = (figures: Figures, lines: readonly LaidLine[]) => ({
  amount_excluding_tax: shown(figures, sum(lines.map(({ priced }) => priced.amountExcludingTax.quantity))),
  amount_including_tax: shown(figures, sum(lines.map(({ priced }) => priced.amountIncludingTax.quantity))),
})

/** The part of each tax summary of the invoice that these lines account for. */
export function taxShares(
  figures: Pick<Figures, 'amounts' | 'rounding'>,
  lines: readonly PricedLine[],
): TaxShareView[] {
  const totals = new Map<number, { base: Decimal; tax: Decimal }>()
  for (const { summary, base, tax } of lines.flatMap(({ taxes }) => taxes)) {
    const known = totals.get(summary) ?? { base: ZERO, tax: ZERO }
    totals.set(summary, { base: known.base.plus(base.quantity), tax: known.tax.plus(tax.quantity) })
  }
  const summaries = figures.amounts.summaries.map(({ category, name, percentage, notes }) => ({
    ...{ category, name, percentage: plain(percentage) },
    notes: notes.map(note => note.text),
  }))
  return [...totals]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([index, { base, tax }]) => {
      const summary = summaries[index]
      if (!summary) return []
      return [
        {
          base_amount: shown(figures, base),
          tax_amount: shown(figures, tax),
          total_amount: shown(figures, base.plus(tax)),
          ...shareNamed(summary, summaries),
        },
      ]
    })
}

function groupBy<T>(list: readonly T[], keyOf: (value: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const value of list) {
    const key = keyOf(value)
    const group = groups.get(key)
    if (group) group.push(value)
    else groups.set(key, [value])
  }
  return [...groups.values()]
}
