// A line of an invoice between rating and rounding: what it is of, what it comes to, and because of what.
import { type Decimal, sum } from '../../decimal.ts'
import type { Interval } from '../../time.ts'
import type { Fraction } from '../fraction.ts'
import type { TaxCategory } from '../tax.ts'

/** REVENUE and COMMITMENT are charged; the others change what such lines come to. */
export type LineKind = 'REVENUE' | 'DISCOUNT' | 'COMMITMENT' | 'MARKUP' | 'WALLET'

/** What a line is of; null where it is of nothing, or of several. */
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

/** The time a line pays for, and the whole period this is a part of. */
export type LinePeriod = { readonly service: Interval; readonly full: Interval }

export type StepName = 'MARKUP' | 'DISCOUNT' | 'COMMITMENT' | 'TOTAL_DISCOUNT' | 'INVOICE_COMMITMENT' | 'WALLET_CREDIT'

export type CouponOf = { readonly couponId: string; readonly promotionCodeId: string | null }

/** What a step did. It stands on the line that the step made and, with its part of it, on each line it changed. */
export type Because = {
  readonly step: StepName
  /** The clause, or the wallet. */
  readonly clauseId: string
  /** The line that the step made. */
  readonly lineKey: string
  /** What it was computed from. */
  readonly base: Decimal
  /** What it adds, with its sign. */
  readonly exact: Decimal
  readonly percentage: Decimal | null
  /** The share of the clause that counts, by days. */
  readonly share: Fraction | null
  readonly coupon: CouponOf | null
}

export type Line = {
  /** Its own on the invoice, and the same whenever the invoice is computed. */
  readonly key: string
  readonly kind: LineKind
  readonly of: Scope
  /** In the invoice currency, with tax when the prices include it. What `because` adds to a charged line is not in it. */
  readonly exact: Decimal
  readonly taxCategory: TaxCategory
  readonly because: readonly Because[]
  readonly period: LinePeriod
  readonly inAdvance: boolean
  /** Of usage that came after the invoice for its time was closed. */
  readonly late: boolean
  /** Which clauses a line that was added by hand takes part in; null on every other line. */
  readonly applicableForClauses: readonly string[] | null
  /** What was metered, for commitments in units; null when nothing was. */
  readonly volume: Decimal | null
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

/** Whether a line is charged, and not a change of lines that are. */
export const isCharged = ({ kind }: Line): boolean => kind === 'REVENUE' || kind === 'COMMITMENT'

/** What a charged line comes to after everything that changed it so far. */
export const netOf = (line: Line): Decimal => line.exact.plus(sum(line.because.map(({ exact }) => exact)))

/** What all lines are of. */
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
