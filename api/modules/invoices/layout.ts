// How the charges of an invoice are laid out: periods (what time they pay for), groups (one a pricing and product
// category), lines (one a charge), each with its sums and its part of the taxes.
import { createHash } from 'node:crypto'
import type { InvoiceAmounts, PricedLine, RoundingMode } from '../../../shared/billing/amount-pipeline.ts'
import { type Decimal, plain, sum, ZERO } from '../../../shared/decimal.ts'
import { base62 } from '../../../shared/ids.ts'
import { type Amount, amount, amountView, moneyView, toMoney } from '../../../shared/money.ts'
import { formatInstant } from '../../../shared/time.ts'
import type { BillingInputs, ProductItemInput } from './billing-inputs.ts'
import { type Charge, isMetered } from './charges.ts'
import type { PartsOfCharges } from './customer-parts.ts'
import { customerSubLines } from './customer-sub-lines.ts'
import { meterValueView, priceDetails, subLines } from './price-details.ts'
import type { RatedCharge } from './rate-charge.ts'
import type { GroupView, LineView, MoneyView, PeriodView, SubLineView, TaxShareView } from './schema.ts'

type Priced = { readonly rated: RatedCharge; readonly line: PricedLine }
type Figures = {
  readonly amounts: InvoiceAmounts
  readonly rounding: RoundingMode
  /** Null when lines are not shared among customers. */
  readonly parts: PartsOfCharges | null
}

/** Lays out the rated charges; `amounts` has their priced lines. */
export function layOut(
  inputs: BillingInputs,
  figures: Figures & { readonly rated: readonly RatedCharge[] },
): PeriodView[] {
  const lines = new Map(figures.amounts.lines.map(line => [line.key, line]))
  const priced = figures.rated.map((rated): Priced => {
    const line = lines.get(rated.charge.key)
    if (!line) throw new Error(`no priced line for ${rated.charge.key}`)
    return { rated, line }
  })
  const periods = groupBy(priced, ({ rated: { charge } }) => `${charge.service.start} ${charge.service.end}`)
  return periods
    .toSorted((a, b) => startOf(a) - startOf(b) || endOf(a) - endOf(b))
    .map((members, index) => periodView(inputs, figures, { members, index }))
}

const chargeOf = ([first]: readonly Priced[]): Charge => {
  if (!first) throw new Error('a group has members')
  return first.rated.charge
}
const startOf = (members: readonly Priced[]): number => chargeOf(members).service.start
const endOf = (members: readonly Priced[]): number => chargeOf(members).service.end

type Part = { readonly members: readonly Priced[]; readonly index: number }

function periodView(inputs: BillingInputs, figures: Figures, { members, index }: Part): PeriodView {
  const charge = chargeOf(members)
  const groups = groupBy(members, ({ rated }) =>
    [rated.charge.schedule.id, rated.charge.pricing.id, rated.charge.category?.id ?? ''].join(' '),
  )
  return {
    period_order: index,
    ...sums(figures, members),
    billing_period: { ...charge.billingPeriod },
    start_at: formatInstant(charge.service.start),
    end_at: formatInstant(charge.service.end),
    tax_categories: taxShares(figures, members),
    groups: groups.map((group, order) => groupView(inputs, figures, { members: group, index: order })),
  }
}

function groupView(inputs: BillingInputs, figures: Figures, { members, index }: Part): GroupView {
  const charge = chargeOf(members)
  const products = new Map(members.map(({ rated: { charge } }) => [charge.product.id, charge.product]))
  return {
    group_order: index,
    ...sums(figures, members),
    billing_period: { ...charge.billingPeriod },
    start_at: formatInstant(charge.service.start),
    end_at: formatInstant(charge.service.end),
    type: 'PRICING',
    ...(charge.category ? { product_category: named('PRODUCT_CATEGORY', charge.category) } : {}),
    products: [...products.values()].map(product => named('PRODUCT', product)),
    pricing: { id: charge.pricing.id, name: charge.pricing.name },
    description: charge.pricing.name,
    pricing_plan_subscription_id: inputs.subscription.id,
    pricing_plan_schedule_id: charge.schedule.id,
    tax_categories: taxShares(figures, members),
    lines: members.map((member, order) => lineView(inputs, figures, { ...member, order })),
  }
}

function lineView(inputs: BillingInputs, figures: Figures, priced: Priced & { readonly order: number }): LineView {
  const { rated, line, order } = priced
  const { charge } = rated
  const meterValue = meterValueView(charge, rated.rated.volume)
  const subs = subLinesOf(inputs, figures, rated)
  const excluding = shown(figures, line.amountExcludingTax.quantity)
  const including = shown(figures, line.amountIncludingTax.quantity)
  return {
    id: lineId(charge.key),
    line_order: order,
    description: descriptionOf(charge),
    pricing_item_id: charge.item.id,
    pricing_item_config_id: charge.config.id,
    product_items: [productItemView(charge.productItem)],
    type: 'REVENUE',
    pricing_type: charge.config.pricing_type,
    tax_categories: taxShares(figures, [priced]),
    amount_excluding_tax: excluding,
    amount_including_tax: including,
    ...(charge.config.conditions ? { conditions: charge.config.conditions } : {}),
    ...(meterValue ? { meter_value: meterValue } : {}),
    details: priceDetails(rated, charge.plan.amount_type === 'INCLUDING_TAX' ? including : excluding),
    ...(subs ? { sub_lines: subs } : {}),
    ...(charge.late ? { late_for_invoice_id: charge.late.invoiceId } : {}),
  }
}

/** Of a usage line that is shared one a customer, which sum to it; of any other one a band. */
function subLinesOf(inputs: BillingInputs, figures: Figures, rated: RatedCharge): SubLineView[] | null {
  if (figures.parts === null || !isMetered(rated.charge)) return subLines(rated)
  const parts = figures.parts.get(rated.charge.key) ?? []
  if (parts.length === 0) return null
  return customerSubLines(inputs, rated, { parts, show: ({ quantity }: Amount) => shown(figures, quantity) })
}

/** Lines of one item that differ in their conditions are told apart by the conditions' name. */
function descriptionOf({ productItem, config }: Charge): string {
  const name = config.conditions?.name
  return name ? `${productItem.name} (${name})` : productItem.name
}

/** The id of a line follows from what it charges, so that it stays when the invoice is computed again. */
const lineId = (key: string): string => `inli_${base62(createHash('sha256').update(key).digest().subarray(0, 16))}`

const named = (objectType: string, { id, name }: { id: string; name: string }) => ({
  object_type: objectType,
  id,
  name,
})

const productItemView = (item: ProductItemInput) => ({
  object_type: 'PRODUCT_ITEM',
  id: item.id,
  product_id: item.product_id,
  name: item.name,
  ...(item.reference === null ? {} : { reference: item.reference }),
  type: item.type,
  model_type: item.model_type,
})

/** Rounded figures carry the currency's places; UNROUNDED ones are shown exactly. */
function shown({ amounts, rounding }: Figures, quantity: Decimal): MoneyView {
  const value = amount(quantity, amounts.currency)
  return rounding === 'DEFAULT' ? moneyView(toMoney(value)) : amountView(value)
}

const sums = (figures: Figures, members: readonly Priced[]) => ({
  amount_excluding_tax: shown(figures, sum(members.map(({ line }) => line.amountExcludingTax.quantity))),
  amount_including_tax: shown(figures, sum(members.map(({ line }) => line.amountIncludingTax.quantity))),
})

/** What the members account for in each tax summary of the invoice. */
function taxShares(figures: Figures, members: readonly Priced[]): TaxShareView[] {
  const totals = new Map<number, { base: Decimal; tax: Decimal }>()
  for (const { summary, base, tax } of members.flatMap(({ line }) => line.taxes)) {
    const known = totals.get(summary) ?? { base: ZERO, tax: ZERO }
    totals.set(summary, { base: known.base.plus(base.quantity), tax: known.tax.plus(tax.quantity) })
  }
  return [...totals]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([index, { base, tax }]) => {
      const summary = figures.amounts.summaries[index]
      if (!summary) return []
      return [
        {
          base_amount: shown(figures, base),
          tax_amount: shown(figures, tax),
          total_amount: shown(figures, base.plus(tax)),
          percentage: plain(summary.percentage),
          name: summary.name,
          category: summary.category,
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
