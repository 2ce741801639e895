// Which prices the discounts of a story are of.
import type { Phase } from './known.ts'
import { type Discount, itemOf, LEVELS, type Plan, type Price } from './story.ts'

/** Categories have every second price of a plan. */
export const categoryOf = (price: string): string => `category${Number(price.at(-1)) % 2}`

/** The prices of a plan that a discount is of. */
export function pricesOf({ level, prices }: Discount, plan: Plan): readonly Price[] {
  if (level === 'totals') return plan.prices
  if (level === 'pricings') return plan.prices.filter(({ addon, version }) => !addon && version === undefined)
  // What is of a price or of an item of a pricing is of one version.
  const isOfOne = level === 'pricing_item_configs' || level === 'pricing_items'
  if (level !== 'product_categories')
    return plan.prices.filter(price => prices.includes(isOfOne ? price.id : itemOf(price)))
  const categories = prices.map(categoryOf)
  return plan.prices.filter(({ id }) => categories.includes(categoryOf(id)))
}

/** The discounts of a schedule that are of a price that it sells, from narrow to wide, each with its place in the schedule. */
export function discountsOf({ plan, deal }: Phase): { readonly discount: Discount; readonly path: string }[] {
  return LEVELS.flatMap(level => {
    const before = level === 'pricing_item_configs' ? plan.prices.filter(({ discount }) => discount !== null) : []
    return deal.discounts
      .filter(each => each.level === level && pricesOf(each, plan).length > 0)
      .map((discount, index) => ({ discount, path: `discount.${level}.${before.length + index}` }))
  })
}
