// From a charge and its usage to an exact, signed amount with every figure that led to it. Pure.
import type { RoundingMode } from '../../../../shared/billing/amount-pipeline.ts'
import { roundedDifference } from '../../../../shared/billing/charging/so-far.ts'
import {
  addFractions,
  type Fraction,
  isWhole,
  multiplyFractions,
  timesFraction,
  WHOLE,
} from '../../../../shared/billing/fraction.ts'
import { periodShare, pricingScale } from '../../../../shared/billing/proration.ts'
import { type Decimal, decimal, ZERO } from '../../../../shared/decimal.ts'
import { amount, toMoney } from '../../../../shared/money.ts'
import type { Volume } from '../../../../shared/rating/price.ts'
import type { Charge } from '../charges/charges.ts'
import { chargedShares } from '../charges/spread-price.ts'
import type { LateCharge } from '../late/late-usage.ts'
import { isMetered, isOneOff, isRatedPerPricingPeriod } from '../terms/price-terms.ts'
import type { UsageFigures } from '../usage/usage-needs.ts'
import { priceOf } from './charge-volume.ts'
import { type PricedUsage, priceUsage } from './price-usage.ts'

export type RatedCharge = PricedUsage & {
  readonly charge: Charge
  /** How many prices per pricing period make one billing period. */
  readonly scale: Fraction
  /** The share of the period that is owed. */
  readonly share: Fraction
  /** Exact, in the invoice currency; negative for a deduction. */
  readonly exact: Decimal
  /** What the line is made from: the same, or for late usage what is left of the printed amount of the whole. */
  readonly quantity: Decimal
}

/**
 * Rates one charge. Throws INVALID_OPERATION when the currency or the price cannot be billed. `own` takes the place of what was
 * metered in its time.
 */
export function rateCharge(charge: Charge, usage: UsageFigures, rounding: RoundingMode, own?: Volume): RatedCharge {
  const config = priceOf(charge)
  const { scale, share } = fractionsOf(charge)
  const priced = priceUsage(config, charge, usage, own)
  const { rated, before } = priced
  const due = before === null ? rated.total.quantity : rated.total.quantity.minus(before.total.quantity)
  const scaled = timesFraction(due, multiplyFractions(scale, share))
  const exact = signed(charge, scaled)
  const { soFar, billed } = spreadOf({ charge, rated, before, scale, share })
  const isRounded = billed !== null && rounding === 'DEFAULT'
  const quantity = isRounded ? signed(charge, roundedDifference(soFar, billed, config.currency)) : exact
  return { charge, ...priced, scale, share, exact, quantity }
}

/**
 * What of a pricing period that is spread over several invoices is charged up to this one, and before it; null before the
 * second. Each is billed the rounded whole so far less what was billed before, so that they sum to the one amount (3.2).
 */
function spreadOf({
  charge,
  rated,
  before,
  scale,
  share,
}: Pick<RatedCharge, 'charge' | 'rated' | 'before' | 'scale' | 'share'>): { soFar: Decimal; billed: Decimal | null } {
  const whole = rated.total.quantity
  if (before !== null) return { soFar: whole, billed: before.total.quantity }
  const earlier = scale.numerator.lt(scale.denominator) ? chargedShares(charge) : null
  if (earlier === null) return { soFar: whole, billed: null }
  const soFar = addFractions(earlier, multiplyFractions(scale, share))
  return { soFar: timesFraction(whole, soFar), billed: timesFraction(whole, earlier) }
}

/** An amount as the invoice bills it: what is deducted is below zero. */
export const signed = ({ productItem }: Charge, quantity: Decimal): Decimal =>
  quantity.eq(ZERO) ? ZERO : productItem.type === 'DEDUCTION' ? quantity.neg() : quantity

/**
 * Rates late usage: the whole of its time less what was billed for it before; null when there is nothing to bill. In DEFAULT
 * rounding the printed amounts of all parts sum to the printed amount of the whole. Where there is less than was billed
 * (events were deleted or corrected) nothing is given back: closed invoices stay as they are. Less is billed only where the
 * price itself says that more usage costs less (TOP_TIERED).
 */
export function rateLate(
  { charge, unit }: LateCharge,
  of: { readonly usage: UsageFigures; readonly rounding: RoundingMode },
): RatedCharge | null {
  const config = priceOf(charge)
  const priced = priceUsage(config, charge, of.usage)
  const { rated, together } = priced
  const counted = { quantity: decimal(unit.together.number), count: decimal(unit.together.count) }
  if (together.quantity.lt(counted.quantity)) return null
  const isMore =
    together.count.gte(counted.count) && !(together.quantity.eq(counted.quantity) && together.count.eq(counted.count))
  const due = rated.total.quantity.minus(signed(charge, unit.exact))
  if (!isMore && due.lte(ZERO)) return null
  const own = { ...priced.metered, quantity: decimal(unit.last.number), count: decimal(unit.last.count) }
  // What was counted of which value is not kept, so less is never billed of a split price.
  if (due.lt(ZERO) && charge.split) return null
  if (due.lt(ZERO) && charge.group.length === 0) {
    const then = priceUsage(config, charge, of.usage, own).rated
    if (!then.total.quantity.eq(signed(charge, unit.exact))) return null
  }
  const whole = signed(charge, rated.total.quantity)
  const exact = whole.minus(unit.exact)
  const printed = toMoney(amount(whole, config.currency)).quantity.minus(unit.printed)
  return {
    charge,
    ...priced,
    before: { total: amount(signed(charge, unit.exact), config.currency), volume: own },
    scale: WHOLE,
    share: WHOLE,
    exact,
    quantity: of.rounding === 'DEFAULT' ? printed : exact,
  }
}

/** A charge without usage, or without seats, and without money: left out of the invoice unless the platform wants it (1.1). */
export const isZeroUsage = ({ metered, quantity }: RatedCharge): boolean =>
  metered.quantity.eq(ZERO) && quantity.eq(ZERO)

/** Recurring prices are scaled to the billing period and prorated; a lump on usage is scaled; unit prices are neither (4.4). */
function fractionsOf(charge: Charge): { scale: Fraction; share: Fraction } {
  const { calendar, pricingPeriod, billingPeriod, period } = charge
  const metered = isMetered(charge)
  if (!calendar || isOneOff(charge) || (metered && isRatedPerPricingPeriod(charge)))
    return { scale: WHOLE, share: WHOLE }
  const scale = pricingScale(pricingPeriod, billingPeriod, period.full, calendar.billingGrid)
  return { scale: isWhole(scale) ? WHOLE : scale, share: metered ? WHOLE : periodShare(period) }
}
