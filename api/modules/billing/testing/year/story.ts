// A year of one subscription, made from a seed: its plans, and what happens to it at which moment. Facts only; how they
// are billed is up to those who read it.
import type { Length } from './calendar.ts'
import type { Template, Terms } from './own-rules.ts'

export type Kind = 'FEE' | 'SEATS' | 'USAGE' | 'ONCE'
export type Scope = 'pricing_item_configs' | 'pricings'
/** Amounts are whole ten-thousandths of a euro, so that nothing here needs decimals. */
export type Price = {
  readonly id: string
  readonly kind: Kind
  readonly inAdvance: boolean
  readonly amount: number
  /** For usage: the price above this quantity; null for one price. */
  readonly above: { readonly quantity: number; readonly amount: number } | null
  readonly billing: Length | null
  readonly pricing: Length | null
  /** In cents, for a period. */
  readonly minimum: number | null
  /** Another minimum of the same lines, of the price or of a pricing that has no other price. */
  readonly second?: { readonly scope: Scope; readonly cents: number }
  /** A whole percentage. */
  readonly discount: number | null
  /** Whether it is sold only while the schedule has the ADDON of its plan enabled. */
  readonly addon?: true
  /** Of a later version of a rate card: which one, from 1 on, and the price of the first version whose item it has. */
  readonly version?: number
  readonly sells?: string
}
/** What a schedule includes of the usage of a price for some time. */
export type Included = {
  readonly price: string
  readonly start: number
  readonly end: number | null
  readonly quantity: number
}
/** A coupon of a schedule. */
export type Coupon = {
  readonly id: string
  /** What it is limited to; null where it is of everything the schedule sells. */
  readonly price: string | null
  /** A whole percentage; null for an amount. */
  readonly percentage: number | null
  readonly cents: number
  readonly lasts: 'ONE_TIME' | 'FOREVER' | Length
  /** Of one that an earlier schedule had: where it began. */
  readonly since?: number
}
/** What a discount of a schedule can be of, from narrow to wide. */
export const LEVELS = [
  'pricing_item_configs',
  'pricing_items',
  'pricings',
  'product_items',
  'products',
  'product_categories',
  'totals',
] as const
export type Level = (typeof LEVELS)[number]
/** A discount of a schedule, besides those of its prices. */
export type Discount = {
  readonly level: Level
  /** The prices that it names, of any plan; a pricing and the total have all prices of the schedule, a category has those of its kind. */
  readonly prices: readonly string[]
  /** A whole percentage; null for an amount. */
  readonly percentage: number | null
  readonly cents: number
  /** From how long after the start of the schedule on it holds, and until how long after that; null for as long as the schedule. */
  readonly from: number | null
  readonly until: number | null
  /** What it would apply to is above this, or at most this; null where it always applies. */
  readonly condition: { readonly isAbove: boolean; readonly cents: number } | null
}
/** What a schedule has instead of what its plan says. */
export type Deal = {
  /** Other amounts, by price. */
  readonly amounts: ReadonlyMap<string, number>
  readonly included: readonly Included[]
  readonly coupons: readonly Coupon[]
  readonly discounts: readonly Discount[]
  /** In cents, of the whole invoice. */
  readonly minimum: number | null
  /** When the ADDON is enabled, in time after the start of the schedule; without an end as long as that. */
  readonly enabled: readonly { readonly from: number; readonly until: number | null }[]
  /** Whether it takes along the coupons of the schedule before, and its amounts on the total. */
  readonly carries: boolean
}
export const NO_DEAL: Deal = {
  amounts: new Map(),
  included: [],
  coupons: [],
  discounts: [],
  minimum: null,
  enabled: [],
  carries: false,
}
/** A later version of a rate card. */
export type CardVersion = { readonly madeAt: number; readonly start: number; readonly prices: readonly Price[] }
/** `card`: of a rate card, its later versions in the order of their starts. */
export type Plan = { readonly id: string; readonly prices: readonly Price[]; readonly card?: readonly CardVersion[] }
export type Seat = { readonly start: number; readonly end: number | null }
export type Action = {
  readonly at: number
  /** It comes after what closes at its moment was issued; absent where that knows of it. */
  readonly late?: true
} & (
  | {
      readonly type: 'PLAN'
      readonly plan: number
      readonly refund: boolean
      /** Whether the periods of an EXACT subscription count from here on. */
      readonly realign: boolean
      /** Of a schedule that stays a DRAFT until it is activated: when it starts, which ends the one before at once. */
      readonly starts?: number
    }
  /** The DRAFT becomes ACTIVE: before its start, or when the invoice of what came before it has long been issued. */
  | { readonly type: 'ACTIVATE'; readonly plan: number; readonly realign: boolean }
  /** `next`: at the end of the period that runs. */
  | { readonly type: 'CANCEL'; readonly when: number; readonly refund: boolean; readonly next?: true }
  | { readonly type: 'UNDO' }
  /** From now on it ends with the term that runs: it is not renewed, or cancelled after its term. */
  | { readonly type: 'TERM'; readonly cancelled: boolean }
  | { readonly type: 'PAUSE'; readonly start: number; readonly end: number }
  /** The pause that runs ends now, or the next one does not come. */
  | { readonly type: 'RESUME' }
  | { readonly type: 'SEAT'; readonly seat: Seat }
  /** The ADDON is enabled from now on, or if it is enabled, ends then; `until`: null for no end. */
  | { readonly type: 'ADDON'; readonly until: number | null }
  /** A version of a rate card is made. */
  | { readonly type: 'CARD' }
)
type Versions = readonly { readonly arrives: number; readonly quantity: number | null }[]
/** Usage at a time; each version replaces the one before from the moment it arrives, null deletes it. */
export type Usage = {
  readonly time: number
  readonly versions: Versions
  /** Of a customer that processes for the one of the subscription, and may be made later: when its versions are sent. */
  readonly sent?: Versions
}
/** How usage is counted: all of it, the largest, or how many different quantities there are. */
export type Counts = 'SUM' | 'MAX' | 'UNIQUE'
export type Story = {
  readonly seed: number
  readonly zone: string
  readonly start: number
  readonly billing: Length
  readonly calendar: boolean
  /** Whether the first schedule is a TRIAL; one with amounts of its own is paid. */
  readonly trial: boolean
  readonly terms: Terms | null
  readonly template: Template | null
  readonly plans: readonly Plan[]
  /** By the place of the schedule in their order. */
  readonly deals: readonly Deal[]
  readonly actions: readonly Action[]
  readonly usage: readonly Usage[]
  /** How long after it closed an invoice still takes usage; absent where it does not. */
  readonly grace?: number
  /** SUM where it is absent. */
  readonly counts?: Counts
  /** Some events name the subscription that they are for; absent where none does. */
  readonly namesSubscription?: true
  /** When the customer is made that processes for it; absent where there is none. */
  readonly helperAt?: number
}
/** All prices of a story. */
export const pricesIn = ({ plans }: Pick<Story, 'plans'>): Price[] =>
  plans.flatMap(({ prices, card = [] }) => [...prices, ...card.flatMap(version => version.prices)])

/** The item that a price has, named like the first price of it. */
export const itemOf = ({ id, sells }: Price): string => sells ?? id

export const DAY = 86_400_000
export const YEAR_DAYS = 400

/** What these quantities come to, as the story counts. */
export function countOf({ counts }: Pick<Story, 'counts'>, quantities: readonly number[]): number {
  if (counts === 'UNIQUE') return new Set(quantities).size
  if (counts === 'MAX') return quantities.length === 0 ? 0 : Math.max(...quantities)
  return quantities.reduce((sum, quantity) => sum + quantity, 0)
}
