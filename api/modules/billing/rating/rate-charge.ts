// From a charge and its usage to an exact, signed amount with every figure that led to it. Pure.
import type { RoundingMode } from '../../../../shared/billing/amount-pipeline.ts'
import { roundedDifference } from '../../../../shared/billing/charging/so-far.ts'
import {
  addFractions,
  type Fraction,
  fraction,
  isWhole,
  multiplyFractions,
  timesFraction,
  WHOLE,
} from '../../../../shared/billing/fraction.ts'
import { periodShare, pricingScale } from '../../../../shared/billing/proration.ts'
import type { Drawn } from '../../../../shared/billing/wallets/credits.ts'
import { type Decimal, decimal, max, sum, ZERO } from '../../../../shared/decimal.ts'
import { amount, toMoney } from '../../../../shared/money.ts'
import { numberVolume, type Volume } from '../../../../shared/rating/price.ts'
import { rate } from '../../../../shared/rating/rate.ts'
import { type Charge, prorationPeriod } from '../charges/charge.ts'
import type { ChargedSeats } from '../charges/seat-charges.ts'
import { chargedShares } from '../charges/spread-price.ts'
import type { ClosedCharge } from '../late/closed-usage.ts'
import type { LateCharge, LateUnit } from '../late/late-usage.ts'
import { isMetered, isOneOff, isRatedPerPricingPeriod, isSoldByCredits } from '../terms/price-terms.ts'
import type { UsageFigures } from '../usage/usage-needs.ts'
import { priceOf } from './charge-volume.ts'
import { inBillingCurrency, inPricingCurrency } from './exchange.ts'
import { type PricedUsage, priceUsage } from './price-usage.ts'

/** What a charge costs in credits, and who paid. */
export type CreditsOfCharge = Drawn & { readonly creditTypeId: string; readonly needed: Decimal }

export type RatedCharge = PricedUsage & {
  /** For usage that is priced in credits: what it costs and who paid. `rated` is then in credits. */
  readonly credits?: CreditsOfCharge
  readonly charge: Charge
  /** How many pricing periods make one billing period. */
  readonly scale: Fraction
  /** The share of the period that is owed. */
  readonly share: Fraction
  /** Exact, in the invoice currency; negative for a deduction. */
  readonly exact: Decimal
  /** What the line is made from: the same amount, or for late usage what is left of the printed amount of the whole. */
  readonly quantity: Decimal
}

/**
 * Rates one charge. Throws INVALID_OPERATION when the currency or the price cannot be billed. `own`, when given,
 * replaces what was metered in its time.
 */
export function rateCharge(charge: Charge, usage: UsageFigures, rounding: RoundingMode, own?: Volume): RatedCharge {
  const config = priceOf(charge)
  const { scale, share } = fractionsOf(charge)
  const priced = priceUsage(config, charge, usage, own)
  const { rated, before } = priced
  const scaled = timesFraction(dueOf(charge, priced), multiplyFractions(scale, share))
  const exact = signed(charge, inBillingCurrency(charge, scaled))
  const { soFar, billed } = spreadOf({ charge, rated, before, scale, share })
  // Each invoice has its own exchange rate, so the parts of a converted price have no rounded whole to sum to.
  const isRounded = billed !== null && rounding === 'DEFAULT' && !charge.exchange
  const quantity = isRounded ? signed(charge, roundedDifference(soFar, billed, config.currency)) : exact
  return { charge, ...priced, scale, share, exact, quantity }
}

/** The price of a full period, less what was billed of it before; not yet scaled or prorated. */
export function dueOf({ seats }: Charge, { rated, before }: Pick<PricedUsage, 'rated' | 'before'>): Decimal {
  const due = before === null ? rated.total.quantity : rated.total.quantity.minus(before.total.quantity)
  // More seats may cost less (TOP_TIERED); what was paid for them in advance is not refunded (semantics 4.4).
  return seats ? max(due, ZERO) : due
}

/**
 * How much of a pricing period that is spread over several invoices is charged up to and including this invoice, and
 * before it; null on the first invoice. Each invoice bills the rounded total so far less what was billed before, so
 * that the invoices sum to the rounded whole (3.2).
 */
function spreadOf({
  charge,
  rated,
  before,
  scale,
  share,
}: Pick<RatedCharge, 'charge' | 'rated' | 'before' | 'scale' | 'share'>): { soFar: Decimal; billed: Decimal | null } {
  const whole = rated.total.quantity
  if (charge.seats) return spreadSeats(charge, charge.seats, timesFraction(whole, multiplyFractions(scale, share)))
  if (before !== null) return { soFar: whole, billed: before.total.quantity }
  const earlier = earlierShares(charge, scale)
  if (earlier === null) return { soFar: whole, billed: null }
  const soFar = addFractions(earlier, multiplyFractions(scale, share))
  return { soFar: timesFraction(whole, soFar), billed: timesFraction(whole, earlier) }
}

/** The shares of the whole that were charged before: in earlier periods, and ahead of a part of this one. Null for none. */
function earlierShares(charge: Charge, scale: Fraction): Fraction | null {
  const periods = scale.numerator.lt(scale.denominator) ? chargedShares(charge) : null
  const { rest, period } = charge
  if (!rest || rest.paidDays === 0) return periods
  const part = multiplyFractions(scale, fraction(rest.paidDays, period.fullDays))
  return periods === null ? part : addFractions(periods, part)
}

/**
 * The same when seats change in a period: each part bills the rounded total so far less what the parts before it
 * billed.
 */
function spreadSeats(
  charge: Charge,
  { earlier }: ChargedSeats,
  own: Decimal,
): { soFar: Decimal; billed: Decimal | null } {
  if (earlier.length === 0) return { soFar: own, billed: null }
  const config = priceOf(charge)
  const billed = sum(
    earlier.map(({ number, period }) => {
      const shares = multiplyFractions(scaleOf(charge), periodShare(period))
      return timesFraction(rate(config, numberVolume(number)).total.quantity, shares)
    }),
  )
  return { soFar: billed.plus(own), billed }
}

/** An amount with the sign that the invoice bills: a deduction is negative. */
export const signed = ({ productItem }: Charge, quantity: Decimal): Decimal =>
  quantity.eq(ZERO) ? ZERO : productItem.type === 'DEDUCTION' ? quantity.neg() : quantity

/**
 * Rates late usage: the price of all usage of its time less what was billed before; null when there is nothing to bill.
 * In DEFAULT rounding the printed amounts of all parts sum to the printed amount of the whole. When the usage is now
 * less than what was billed (events were deleted or corrected) nothing is refunded: closed invoices stay as they are.
 * The line is negative only where the price itself makes more usage cheaper (TOP_TIERED).
 */
export function rateLate(
  { charge, unit }: LateCharge,
  of: { readonly usage: UsageFigures; readonly rounding: RoundingMode },
): RatedCharge | null {
  const config = priceOf(charge)
  const priced = priceUsage(config, charge, of.usage)
  const { rated, together } = priced
  if (unit.before) return rateLateAfter({ charge, unit }, unit.before, { ...of, priced })
  const total = inBillingCurrency(charge, rated.total.quantity)
  const counted = { quantity: decimal(unit.together.number), count: decimal(unit.together.count) }
  if (together.quantity.lt(counted.quantity)) return null
  const isMore = together.quantity.gt(counted.quantity) || together.count.gt(counted.count)
  const due = total.minus(signed(charge, unit.exact))
  if (!isMore && due.eq(ZERO)) return null
  if (due.lt(ZERO) && (!isMore || together.count.lt(counted.count))) return null
  const own = { ...priced.metered, quantity: decimal(unit.last.number), count: decimal(unit.last.count) }
  // The quantity counted for each value is not stored, so such a price is never billed a negative amount.
  if (due.lt(ZERO) && (charge.split || config.perEvent)) return null
  if (due.lt(ZERO) && charge.group.length === 0) {
    const then = priceUsage(config, charge, of.usage, own).rated
    if (!inBillingCurrency(charge, then.total.quantity).eq(signed(charge, unit.exact))) return null
  }
  const whole = signed(charge, total)
  const exact = whole.minus(unit.exact)
  const printed = toMoney(amount(whole, charge.billingCurrency)).quantity.minus(unit.printed)
  return {
    charge,
    ...priced,
    before: { total: amount(inPricingCurrency(charge, signed(charge, unit.exact)), config.currency), volume: own },
    scale: WHOLE,
    share: WHOLE,
    exact,
    quantity: of.rounding === 'DEFAULT' ? printed : exact,
  }
}

type LateAfter = {
  readonly usage: UsageFigures
  readonly rounding: RoundingMode
  readonly priced: PricedUsage
}

/**
 * The same for time that follows time of the same pricing period whose late usage is billed elsewhere. What is due is
 * what the later time costs on top of the earlier now, less what was billed of the later time.
 */
function rateLateAfter(
  { charge, unit }: LateCharge,
  before: NonNullable<LateUnit['before']>,
  { priced, rounding, usage }: LateAfter,
): RatedCharge | null {
  const config = priceOf(charge)
  const earlier = priced.before
  if (earlier === null) throw new Error(`the late charge ${charge.key} has usage before it`)
  const [whole, until] = [priced.rated.total, earlier.total].map(({ quantity }) =>
    signed(charge, inBillingCurrency(charge, quantity)),
  ) as [Decimal, Decimal]
  const exact = whole.minus(until).minus(unit.exact)
  const due = signed(charge, exact)
  const more = (name: 'quantity' | 'count', counted: 'number' | 'count'): Decimal =>
    earlier.volume[name].plus(decimal(unit.last[counted])).minus(decimal(before[counted]))
  const own = { ...priced.metered, quantity: more('quantity', 'number'), count: more('count', 'count') }
  if (due.eq(ZERO)) return null
  if (due.lt(ZERO) && (priced.metered.quantity.lt(own.quantity) || !wasPricedSo({ charge, unit }, before, usage)))
    return null
  const cents = (quantity: Decimal): Decimal => toMoney(amount(quantity, charge.billingCurrency)).quantity
  const billed = inPricingCurrency(charge, signed(charge, until.plus(unit.exact)))
  return {
    charge,
    ...priced,
    before: { total: amount(billed, config.currency), volume: own },
    scale: WHOLE,
    share: WHOLE,
    exact,
    quantity: rounding === 'DEFAULT' ? cents(whole).minus(cents(until)).minus(unit.printed) : exact,
  }
}

/** Whether the price of what was counted is what was billed, so that only the price can make more usage cheaper. */
function wasPricedSo(
  { charge, unit }: LateCharge,
  before: NonNullable<LateUnit['before']>,
  usage: UsageFigures,
): boolean {
  const config = priceOf(charge)
  if (charge.split || config.perEvent || charge.group.length > 0) return false
  const costOf = (of: Charge, { number, count }: Pick<ClosedCharge, 'number' | 'count'>): Decimal => {
    const { metered } = priceUsage(config, of, usage)
    const own = { ...metered, quantity: decimal(number), count: decimal(count) }
    return inBillingCurrency(charge, priceUsage(config, of, usage, own).rated.total.quantity)
  }
  const earlier = { ...charge, service: charge.billedUsage ?? charge.service, usage: charge.billedUsage }
  const then = costOf(charge, unit.last).minus(costOf({ ...earlier, billedUsage: null }, before))
  return then.eq(signed(charge, unit.exact))
}

/**
 * A charge without usage or seats and without an amount: left out of the invoice unless the platform wants it (1.1).
 */
export const isZeroUsage = ({ metered, quantity }: RatedCharge): boolean =>
  metered.quantity.eq(ZERO) && quantity.eq(ZERO)

/**
 * Recurring prices are scaled to the billing period and prorated; a lump sum on usage is only scaled; unit prices are
 * neither (4.4).
 */
function fractionsOf(charge: Charge): { scale: Fraction; share: Fraction } {
  const { calendar } = charge
  const metered = isMetered(charge)
  if (!calendar || isOneOff(charge) || isSoldByCredits(charge) || (metered && isRatedPerPricingPeriod(charge)))
    return { scale: WHOLE, share: WHOLE }
  return { scale: scaleOf(charge), share: metered ? WHOLE : periodShare(prorationPeriod(charge)) }
}

/** How many pricing periods make one billing period. */
function scaleOf({ calendar, pricingPeriod, billingPeriod, period }: Charge): Fraction {
  if (!calendar) return WHOLE
  const scale = pricingScale(pricingPeriod, billingPeriod, period.full, calendar.billingGrid)
  return isWhole(scale) ? WHOLE : scale
}
