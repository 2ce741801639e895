// Clauses: what schedules, coupons and wallets change on an invoice.
import type { Decimal } from '../../decimal.ts'
import type { Instant, Interval } from '../../time.ts'
import type { Span } from '../periods.ts'
import type { TaxCategory } from '../tax/tax.ts'
import type { CouponOf, Line, Scope } from './line.ts'

/** What a clause may be limited to, from narrow to wide (semantics 5.4). */
export const CLAUSE_LEVELS = ['CONFIG', 'ITEM', 'PRICING', 'PRODUCT_ITEM', 'PRODUCT', 'CATEGORY'] as const
export type ClauseLevel = (typeof CLAUSE_LEVELS)[number]
export const LEVEL_SCOPES = {
  CONFIG: 'configId',
  ITEM: 'itemId',
  PRICING: 'pricingId',
  PRODUCT_ITEM: 'productItemId',
  PRODUCT: 'productId',
  CATEGORY: 'categoryId',
} as const satisfies Record<ClauseLevel, keyof Scope>

export type ClauseTarget = { readonly level: ClauseLevel; readonly ids: readonly string[] }

type Clause = {
  /** Unique among the clauses of the invoice. */
  readonly id: string
  /** The schedule it belongs to; null when it applies to all lines of the invoice. */
  readonly scheduleId: string | null
  /** When it applies; null for always. */
  readonly during: Span | null
  /** What it is limited to; null for the whole invoice. */
  readonly of: ClauseTarget | null
}

/** A percentage ("10" is 10 %) or an amount, never negative. */
export type Change =
  | { readonly kind: 'PERCENTAGE'; readonly percentage: Decimal }
  | { readonly kind: 'AMOUNT'; readonly amount: Decimal }

export const COMPARATORS = [
  'EQUALS',
  'NOT_EQUALS',
  'GREATER_THAN',
  'GREATER_THAN_OR_EQUALS',
  'LESS_THAN',
  'LESS_THAN_OR_EQUALS',
] as const
/** Compares the amount that a discount would apply to. */
export type DiscountCondition = { readonly comparator: (typeof COMPARATORS)[number]; readonly amount: Decimal }

export type Markup = Clause & { readonly value: Change }
export type Discount = Clause & {
  readonly value: Change
  readonly condition: DiscountCondition | null
  readonly coupon: CouponOf | null
  /** Other schedules that have the same discount, or the same coupon by the same redemption: it applies to their lines too. */
  readonly alsoOf?: readonly string[]
  /** Of a coupon, by an earlier rule: it counts for each period on the invoice on its own. */
  readonly eachPeriod?: true
  /** What other invoices deducted by it, from charges ahead; absent where they deducted nothing. */
  readonly taken?: readonly { readonly time: Interval; readonly amount: Decimal }[]
}

/**
 * A minimum to charge: an amount of money, or a number of metered units. For units the price of the missing ones is
 * charged.
 */
export type Minimum =
  | { readonly kind: 'AMOUNT'; readonly amount: Decimal }
  | { readonly kind: 'NUMBER'; readonly number: Decimal; readonly priceOf: (number: Decimal) => Decimal }

export type Commitment = Clause & {
  readonly value: Minimum
  /** Whether every price in its scope is charged in advance. If not, it waits for the charges in arrears. */
  readonly inAdvance: boolean
  /** Whether one price is in its scope. If not, late usage leaves it as it was charged. */
  readonly isOfOnePrice: boolean
}

/** The money of a CREDIT wallet: a net amount for lines of one tax category (contract: Wallet rules 1). */
export type WalletBalance = {
  readonly walletId: string
  readonly taxCategory: TaxCategory
  readonly currency: string
  readonly available: Decimal
  /** Its wallet type; absent in what was stored before wallets had it. */
  readonly walletTypeId?: string
  /** Keys of lines that it does not pay: what they charge is what puts money into it. */
  readonly except?: ReadonlySet<string>
}

/** Free usage of a coupon: what it would have cost, by line. */
export type FreeUsage = {
  readonly id: string
  /** The free quantity of the metered value. */
  readonly quantity: Decimal
  readonly coupon: CouponOf
  readonly parts: readonly { readonly lineKey: string; readonly exact: Decimal }[]
}

export type Clauses = {
  readonly freeUsage: readonly FreeUsage[]
  readonly markups: readonly Markup[]
  readonly discounts: readonly Discount[]
  readonly commitments: readonly Commitment[]
  /** In the order in which they are spent. */
  readonly wallets: readonly WalletBalance[]
  /**
   * What earlier invoices charged for the same periods, in advance or before late usage arrived; it counts towards a
   * commitment.
   */
  readonly billedBefore: readonly Line[]
  /** The lines by which earlier invoices reached a minimum ahead. */
  readonly minimumsBefore: readonly MinimumBefore[]
}

export type MinimumBefore = {
  /** The key of the line. */
  readonly key: string
  /** Where it was reached for a part of its period: until when, and what was paused of it; otherwise null. */
  readonly part: { readonly end: Instant; readonly pauses: readonly Interval[] } | null
}

export const NO_CLAUSES: Clauses = {
  freeUsage: [],
  markups: [],
  discounts: [],
  commitments: [],
  wallets: [],
  billedBefore: [],
  minimumsBefore: [],
}
