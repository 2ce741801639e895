// The discounts of a schedule one by one, each with its path in the schedule. Pure.
import type { ClauseLevel } from '../../../../shared/billing/steps/clauses.ts'
import { at, type Instant, instantOf } from '../../../../shared/time.ts'
import type { Discount } from './schema.ts'

/** The lists of a discount from narrow to wide, with the level of what their ids name. */
const LEVEL_OF_LIST = {
  pricing_item_configs: 'CONFIG',
  pricing_items: 'ITEM',
  pricings: 'PRICING',
  product_items: 'PRODUCT_ITEM',
  products: 'PRODUCT',
  product_categories: 'CATEGORY',
  totals: null,
} as const satisfies Record<keyof Discount, ClauseLevel | null>
export type DiscountList = keyof typeof LEVEL_OF_LIST
const LISTS = [
  'pricing_item_configs',
  'pricing_items',
  'pricings',
  'product_items',
  'products',
  'product_categories',
  'totals',
] as const satisfies readonly DiscountList[]

type Value = NonNullable<NonNullable<Discount['totals']>[number]>

export type DiscountEntry = {
  readonly list: DiscountList
  /** Where it stands, such as `discount.totals.0`. */
  readonly path: string
  /** What its ids name; null for the total. */
  readonly level: ClauseLevel | null
  readonly ids: readonly string[]
  readonly value: Value
}

/** The discounts of a schedule, lists from narrow to wide and each list in its order. */
export const discountEntries = (discount: Discount | null): DiscountEntry[] =>
  LISTS.flatMap(list => {
    const entries: readonly (Value & { readonly ids?: readonly string[] })[] = discount?.[list] ?? []
    return entries.map((value, index) => ({
      list,
      path: `discount.${list}.${index}`,
      level: LEVEL_OF_LIST[list],
      ids: value.ids ?? [],
      value,
    }))
  })

/** What a discount is apart from its end. */
const identityOf = ({ list, ids, value }: DiscountEntry): string => {
  const { amount, percentage, condition, start_at } = value
  return JSON.stringify([
    list,
    [...ids],
    start_at ?? null,
    percentage ?? null,
    amount ? [amount.quantity, amount.currency] : null,
    condition ? [condition.comparator, condition.value.amount.quantity, condition.value.amount.currency] : null,
  ])
}

/** A change of discounts: from when on it changes invoices, and the field that makes it. */
export type DiscountChange = { readonly from: Instant; readonly path: string }

/**
 * What is different between two states of a schedule's discounts. A discount that is added or removed changes everything from
 * its start on; one whose end moves changes everything from the earlier end on.
 */
export function discountChanges(
  before: Discount | null,
  after: Discount | null,
  scheduleStart: Instant,
): DiscountChange[] {
  const startOf = ({ value }: DiscountEntry): Instant =>
    instantOf(Math.max(scheduleStart, value.start_at ? at(value.start_at) : scheduleStart))
  const old = discountEntries(before)
  const changes: DiscountChange[] = []
  for (const entry of discountEntries(after)) {
    const alike = old.filter(each => identityOf(each) === identityOf(entry))
    const same = alike.find(each => endOf(each) === endOf(entry)) ?? alike[0]
    if (!same) {
      changes.push({ from: startOf(entry), path: `${entry.path}.start_at` })
      continue
    }
    old.splice(old.indexOf(same), 1)
    const ends = [endOf(same), endOf(entry)].flatMap(end => (end === null ? [] : [at(end)]))
    if (endOf(same) !== endOf(entry)) changes.push({ from: instantOf(Math.min(...ends)), path: `${entry.path}.end_at` })
  }
  return [...changes, ...old.map(entry => ({ from: startOf(entry), path: `discount.${entry.list}` }))]
}

const endOf = ({ value }: DiscountEntry): string | null => value.end_at ?? null
