// A line of an invoice between rating and rounding: what it refers to, its amount, and what changed it.
import { type Decimal, sum, ZERO } from '../../decimal.ts'
import type { Interval } from '../../time.ts'
import type { Fraction } from '../fraction.ts'
import type { CategoryTax, TaxCategory } from '../tax/tax.ts'

/** REVENUE and COMMITMENT are charged; the other kinds change such lines. */
export const LINE_KINDS = ['REVENUE', 'DISCOUNT', 'COMMITMENT', 'MARKUP', 'WALLET'] as const
export type LineKind = (typeof LINE_KINDS)[number]

/** What a line refers to; null where it refers to nothing, or to several objects. */
export type Scope = {
  readonly subscriptionId: string | null
  readonly scheduleId: string | null
  readonly pricingId: string | null
  readonly itemId: string | null
  readonly configId: string | null
  readonly productItemId: string | null
  readonly productId: string | null
  readonly categoryId: string | null
}

/** The time a line pays for, and the whole period that contains it. */
export type LinePeriod = { readonly service: Interval; readonly full: Interval }

/**
 * What changes of a line are explained by. A new step is a file, its line in `apply-clauses.ts`, and its name here. Steps apply clauses:
 * an invoice that has none, nor wallets, skips them all (`withClauses` of the pricing).
 */
export const STEP_NAMES = [
  'MARKUP',
  'DISCOUNT',
  'COMMITMENT',
  'TOTAL_DISCOUNT',
  'INVOICE_COMMITMENT',
  'WALLET_CREDIT',
] as const
export type StepName = (typeof STEP_NAMES)[number]

export type CouponOf = { readonly couponId: string; readonly promotionCodeId: string | null }

/**
 * What a step did. It is noted on the line that the step made and, with its part, on each line that the step changed.
 */
export type Because = {
  readonly step: StepName
  /** The clause, or the wallet. */
  readonly clauseId: string
  /** The line that the step made. */
  readonly lineKey: string
  /** The amount it was computed from. */
  readonly base: Decimal
  /** What it adds, with its sign. */
  readonly exact: Decimal
  readonly percentage: Decimal | null
  /** The share of the clause that counts, by days. */
  readonly share: Fraction | null
  readonly coupon: CouponOf | null
  /** What other invoices deducted of the same amount before; absent where they deducted nothing. */
  readonly taken?: Decimal
}

export type Line = {
  /** Unique on the invoice, and the same whenever the invoice is computed. */
  readonly key: string
  readonly kind: LineKind
  readonly of: Scope
  /**
   * In the invoice currency, with tax when the prices include it. Excludes the changes in `because` on a charged line.
   */
  readonly exact: Decimal
  readonly taxCategory: TaxCategory
  /** The tax that it carries, where that is not the invoice's: that of a refund. */
  readonly tax?: CategoryTax
  readonly because: readonly Because[]
  readonly period: LinePeriod
  readonly inAdvance: boolean
  /** For usage that arrived after the invoice of its time was closed. */
  readonly late: boolean
  /**
   * What earlier invoices charged for the time of late usage, after the percentages so far: a percentage is rounded of
   * the whole. Absent on every other line.
   */
  readonly before?: Decimal
  /** Which clauses a line added by a user takes part in; null on every other line. */
  readonly applicableForClauses: readonly string[] | null
  /** The metered quantity, for commitments in units; null when nothing was metered. */
  readonly volume: Decimal | null
  /** Of a minimum of the days that came back to a period: the times for which earlier invoices reached it. Absent on every other line. */
  readonly paidBefore?: readonly Interval[]
}

const NO_SCOPE: Scope = {
  subscriptionId: null,
  scheduleId: null,
  pricingId: null,
  itemId: null,
  configId: null,
  productItemId: null,
  productId: null,
  categoryId: null,
}

/** Whether a line is charged, rather than a change of charged lines. */
export const isCharged = ({ kind }: Line): boolean => kind === 'REVENUE' || kind === 'COMMITMENT'

/** The amount of a charged line after everything that changed it so far. */
export const netOf = (line: Line): Decimal => line.exact.plus(sum(line.because.map(({ exact }) => exact)))

/** The same with what earlier invoices charged for its time. */
export const wholeOf = (line: Line): Decimal => netOf(line).plus(line.before ?? ZERO)

/** What all lines refer to in common. */
export function commonScope(lines: readonly Line[]): Scope {
  const [first = NO_SCOPE, ...rest] = lines.map(line => line.of)
  const shared = <K extends keyof Scope>(name: K) =>
    rest.every(each => each[name] === first[name]) ? first[name] : null
  return {
    subscriptionId: shared('subscriptionId'),
    scheduleId: shared('scheduleId'),
    pricingId: shared('pricingId'),
    itemId: shared('itemId'),
    configId: shared('configId'),
    productItemId: shared('productItemId'),
    productId: shared('productId'),
    categoryId: shared('categoryId'),
  }
}
