// What refunds of charges ahead give back of the discounts on those charges. A refund is of what was paid, so the days that it
// refunds no longer have their part of an amount, which is free again for usage that shares it. Pure.
import type { RoundingMode } from '../../../../shared/billing/amount-pipeline.ts'
import { type Fraction, timesFraction } from '../../../../shared/billing/fraction.ts'
import type { Zone } from '../../../../shared/billing/local-days.ts'
import {
  CLAUSE_LEVELS,
  type ClauseLevel,
  type Discount,
  LEVEL_SCOPES,
} from '../../../../shared/billing/steps/clauses.ts'
import type { Scope } from '../../../../shared/billing/steps/line.ts'
import { type Decimal, max, min, sum, ZERO } from '../../../../shared/decimal.ts'
import { amount, toMoney } from '../../../../shared/money.ts'
import type { Interval } from '../../../../shared/time.ts'
import { refundedScope, refundedTerm } from '../refunds/refund-lines.ts'
import { type Refund, shareRefunded } from '../refunds/refunds.ts'
import type { PriceTerm } from '../terms/price-terms.ts'

/** A refunded charge: what discounts took off it, and the share of its days that is refunded. */
export type RefundedCharge = {
  readonly of: Scope
  readonly service: Interval
  readonly deducted: Decimal
  /** What the amount of a clause took of that; absent where it is not known, or all of it. */
  readonly deductedBy?: ReadonlyMap<string, Decimal>
  readonly share: Fraction
}

/** The refunds of prices. A charge that credit notes gave back in full has no discount to give back. */
export const refundedCharges = (
  refunds: readonly Refund[],
  terms: readonly PriceTerm[],
  { zone, includingTax }: { readonly zone: Zone; readonly includingTax: boolean },
): RefundedCharge[] =>
  refunds
    .filter(({ charged }) => !charged.isMinimum)
    .map(refund => {
      const { charged } = refund
      const { pricingItemId: itemId, ...of } = refundedScope(refundedTerm(terms, refund), refund)
      const left = includingTax ? charged.includingTax : charged.excludingTax
      return {
        of: { ...of, itemId },
        service: charged.service,
        deducted: max(min(charged.deducted, left), ZERO),
        // Where credit notes left less than that, its parts are not known.
        ...(charged.deductedBy && charged.deducted.lte(left) ? { deductedBy: charged.deductedBy } : {}),
        share: shareRefunded(refund, zone),
      }
    })

/** What a discount took off charges of one time, and what they have in common. */
type Taken = {
  readonly quantity: Decimal
  readonly by: {
    readonly service: readonly [number, number]
    readonly of: Readonly<Record<ClauseLevel, string | null>>
  }
}

type Rounded = { readonly currency: string; readonly rounding: RoundingMode }

/** A price of seats has several charges in a period. */
const isIn = ({ start, end }: Interval, [from, until]: Taken['by']['service']): boolean => from <= start && end <= until

/**
 * What is given back of the amount that a discount took off charges of one period: the refunded share of it, as far as it is of
 * charges that are refunded. `beside`: what it took otherwise. A charge of the first part of a period is also in the time of what it took
 * off the rest.
 */
export function refundedDiscount(
  { quantity, by, beside }: Taken & { readonly beside: readonly Taken['by'][] },
  { id, of: target, scheduleId }: Discount,
  all: readonly RefundedCharge[],
  { currency, rounding }: Rounded,
): Decimal {
  const [from, until] = by.service
  const narrower = beside.filter(
    ({ service: [start, end] }) => from <= start && end <= until && end - start < until - from,
  )
  const own = all.filter(
    ({ of, service }) =>
      isIn(service, by.service) &&
      !narrower.some(each => isIn(service, each.service)) &&
      of.scheduleId === scheduleId &&
      (target === null || target.ids.includes(of[LEVEL_SCOPES[target.level]] ?? '')) &&
      CLAUSE_LEVELS.every(level => by.of[level] === null || by.of[level] === of[LEVEL_SCOPES[level]]),
  )
  const takenOf = (each: RefundedCharge): Decimal =>
    each.deductedBy ? (each.deductedBy.get(id) ?? ZERO) : each.deducted
  const deducted = sum(own.map(takenOf))
  if (deducted.lte(ZERO)) return ZERO
  const back = sum(own.map(each => timesFraction(takenOf(each), each.share)))
  const exact = min(quantity, deducted).times(back).div(deducted)
  return rounding === 'UNROUNDED' ? exact : toMoney(amount(exact, currency)).quantity
}
