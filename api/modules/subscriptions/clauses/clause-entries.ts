// The discounts, markups and commitments of a schedule one by one, each with its path in the schedule. Pure.
import type { ClauseLevel } from '../../../../shared/billing/steps/clauses.ts'
import { at, type Instant, instantOf } from '../../../../shared/time.ts'
import type { Discount } from './discount-schema.ts'
import type { Commitment, Markup } from './schema.ts'

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

/** What a schedule says about the lines of its invoices. */
export type ScheduleClauses = {
  readonly discount: Discount | null
  readonly markup: Markup | null
  readonly commitment: Commitment | null
}
export type ClauseRoot = keyof ScheduleClauses
export const CLAUSE_ROOTS = ['markup', 'discount', 'commitment'] as const satisfies readonly ClauseRoot[]

type DiscountValue = NonNullable<NonNullable<Discount['totals']>[number]>
type CommitmentValue = NonNullable<NonNullable<Commitment['pricing_item_configs']>[number]>
type Value = DiscountValue & Pick<CommitmentValue, 'meter_value_calculation'>

export type ClauseEntry = {
  readonly list: DiscountList
  /** Where it stands, such as `discount.totals.0`. */
  readonly path: string
  /** What its ids name; null for the total. */
  readonly level: ClauseLevel | null
  readonly ids: readonly string[]
  readonly value: Value
}

type Lists = Readonly<Partial<Record<DiscountList, readonly (Value & { readonly ids?: readonly string[] })[] | null>>>

/** The clauses of a schedule under one name, lists from narrow to wide and each list in its order. */
export function clauseEntries(root: ClauseRoot, clauses: Partial<ScheduleClauses>): ClauseEntry[] {
  const lists: Lists = clauses[root] ?? {}
  return LISTS.flatMap(list =>
    (lists[list] ?? []).map((value, index) => ({
      list,
      path: `${root}.${list}.${index}`,
      level: LEVEL_OF_LIST[list],
      ids: value.ids ?? [],
      value,
    })),
  )
}

/** What a clause is apart from its end. */
export const identityOf = ({ list, ids, value }: ClauseEntry): string => {
  const { amount, percentage, condition, meter_value_calculation: metered, start_at } = value
  const money = (of: typeof amount) => (of ? [of.quantity, of.currency] : null)
  return JSON.stringify([
    list,
    [...ids],
    start_at ?? null,
    percentage ?? null,
    money(amount),
    condition ? [condition.comparator, condition.value.amount.quantity, condition.value.amount.currency] : null,
    metered ? [metered.number ?? null, money(metered.amount)] : null,
  ])
}

/** A change of clauses: from when on it changes invoices, and the field that makes it. */
export type ClauseChange = { readonly from: Instant; readonly path: string }

/**
 * What is different between two states of a schedule's clauses. One that is added or removed changes everything from its start on; one
 * whose end moves changes everything from the earlier end on.
 */
export const clauseChanges = (
  before: Partial<ScheduleClauses>,
  after: Partial<ScheduleClauses>,
  scheduleStart: Instant,
): ClauseChange[] => CLAUSE_ROOTS.flatMap(root => changesOf(root, { before, after, scheduleStart }))

function changesOf(
  root: ClauseRoot,
  of: {
    readonly before: Partial<ScheduleClauses>
    readonly after: Partial<ScheduleClauses>
    readonly scheduleStart: Instant
  },
): ClauseChange[] {
  const { before, after, scheduleStart } = of
  const startOf = ({ value }: ClauseEntry): Instant =>
    instantOf(Math.max(scheduleStart, value.start_at ? at(value.start_at) : scheduleStart))
  const old = clauseEntries(root, before)
  const changes: ClauseChange[] = []
  for (const entry of clauseEntries(root, after)) {
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
  return [...changes, ...old.map(entry => ({ from: startOf(entry), path: `${root}.${entry.list}` }))]
}

const endOf = ({ value }: ClauseEntry): string | null => value.end_at ?? null
