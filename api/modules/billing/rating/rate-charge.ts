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
import { carriedOn, isPersistable, persistedUsageAt } from '../../../../shared/billing/persisted-usage.ts'
import { periodShare, pricingScale } from '../../../../shared/billing/proration.ts'
import { type Decimal, decimal, decimalOfInteger, ONE, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { amount, toMoney } from '../../../../shared/money.ts'
import type { IncludedVolumeDetails } from '../../../../shared/rating/included-volume.ts'
import { parsePriceConfig } from '../../../../shared/rating/parse-price-config.ts'
import { amountVolume, numberVolume, type Volume } from '../../../../shared/rating/price.ts'
import { NO_PRIOR } from '../../../../shared/rating/price-model.ts'
import { type PriceConfig, type RatedPrice, rate } from '../../../../shared/rating/rate.ts'
import type { Interval } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charges.ts'
import { chargedShares } from '../charges/spread-price.ts'
import type { LateCharge } from '../late/late-usage.ts'
import { isMetered, isRatedPerPricingPeriod } from '../terms/price-terms.ts'
import { needKey, type UsageFigure, type UsageFigures } from '../usage/usage-needs.ts'
import { type ChargeUsage, chargeUsage } from './billable-usage.ts'

export type RatedCharge = {
  readonly charge: Charge
  readonly rated: RatedPrice
  /** The usage, before what is included of it; of what is not metered, one. */
  readonly metered: Volume
  /** What of the usage was included in the price; null when it includes nothing. */
  readonly included: IncludedVolumeDetails | null
  /** What earlier invoices billed of the same pricing period, with the usage; null when the charge starts it. */
  readonly before: Pick<RatedPrice, 'total' | 'volume'> | null
  /** How many prices per pricing period make one billing period. */
  readonly scale: Fraction
  /** The share of the period that is owed. */
  readonly share: Fraction
  /** Exact, in the invoice currency; negative for a deduction. */
  readonly exact: Decimal
  /** What the line is made from: the same, or for late usage what is left of the printed amount of the whole. */
  readonly quantity: Decimal
}

/** Rates one charge. Throws INVALID_OPERATION when the currency or the price cannot be billed. */
export function rateCharge(charge: Charge, usage: UsageFigures, rounding: RoundingMode): RatedCharge {
  const config = priceOf(charge)
  const { scale, share } = fractionsOf(charge)
  const { metered, billable, included, before: earlier, prior } = usageOf(config, charge, usage)
  const rated = rate(config, billable, { prior })
  const before = earlier && { total: rate(config, earlier.billable, { prior }).total, volume: earlier.metered }
  const due = before === null ? rated.total.quantity : rated.total.quantity.minus(before.total.quantity)
  const scaled = timesFraction(due, multiplyFractions(scale, share))
  const exact = signed(charge, scaled)
  const { soFar, billed } = spreadOf({ charge, rated, before, scale, share })
  const isRounded = billed !== null && rounding === 'DEFAULT'
  const quantity = isRounded ? signed(charge, roundedDifference(soFar, billed, config.currency)) : exact
  return { charge, rated, metered, included, before, scale, share, exact, quantity }
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

const UNMETERED: ChargeUsage = {
  metered: numberVolume(ONE),
  billable: numberVolume(ONE),
  included: null,
  before: null,
  prior: NO_PRIOR,
}

const usageOf = (config: PriceConfig, charge: Charge, usage: UsageFigures, own?: Volume): ChargeUsage =>
  isMetered(charge) ? chargeUsage(config, charge, interval => volumeOf(charge, interval, usage), own) : UNMETERED

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
  const now = usageOf(config, charge, of.usage)
  const { metered, prior, included } = now
  const counted = { ...metered, quantity: decimal(unit.last.number), count: decimal(unit.last.count) }
  if (metered.quantity.lt(counted.quantity)) return null
  const isMore =
    metered.count.gte(counted.count) && !(metered.quantity.eq(counted.quantity) && metered.count.eq(counted.count))
  const rated = rate(config, now.billable, { prior })
  const due = rated.total.quantity.minus(signed(charge, unit.exact))
  if (!isMore && due.lte(ZERO)) return null
  if (due.lt(ZERO)) {
    const then = rate(config, usageOf(config, charge, of.usage, counted).billable, { prior })
    if (!then.total.quantity.eq(signed(charge, unit.exact))) return null
  }
  const whole = signed(charge, rated.total.quantity)
  const exact = whole.minus(unit.exact)
  const printed = toMoney(amount(whole, config.currency)).quantity.minus(unit.printed)
  return {
    charge,
    rated,
    metered,
    included,
    before: { total: amount(signed(charge, unit.exact), config.currency), volume: counted },
    scale: WHOLE,
    share: WHOLE,
    exact,
    quantity: of.rounding === 'DEFAULT' ? printed : exact,
  }
}

/** A metered charge without usage and without money: left out of the invoice unless the platform wants it (1.1). */
export const isZeroUsage = ({ charge, metered, quantity }: RatedCharge): boolean =>
  isMetered(charge) && metered.quantity.eq(ZERO) && quantity.eq(ZERO)

function priceOf({ config, schedule, calculation, billingCurrency }: Charge): PriceConfig {
  if (schedule.pricing_currency !== billingCurrency) {
    throw new AppError(
      'INVALID_OPERATION',
      `Prices in ${schedule.pricing_currency} cannot be invoiced in ${billingCurrency}: there is no exchange rate. Use one currency for both.`,
      { field: 'billing_currency', resourceId: schedule.id, resourceType: 'PRICING_PLAN_SCHEDULE' },
    )
  }
  const metric = calculation?.value_type === 'AMOUNT' ? 'AMOUNT' : 'NUMBER'
  const reading = parsePriceConfig(config, { metric, currency: schedule.pricing_currency })
  if (reading.kind === 'ok') return reading.config
  throw new AppError('INVALID_OPERATION', reading.fault.message, {
    field: reading.fault.field,
    resourceId: config.id,
    resourceType: 'PRICING_ITEM_CONFIG',
  })
}

/** Recurring prices are scaled to the billing period and prorated; a lump on usage is scaled; unit prices are neither (4.4). */
function fractionsOf(charge: Charge): { scale: Fraction; share: Fraction } {
  const { calendar, pricingPeriod, billingPeriod, period } = charge
  const metered = isMetered(charge)
  if (!calendar || (metered && isRatedPerPricingPeriod(charge))) return { scale: WHOLE, share: WHOLE }
  const scale = pricingScale(pricingPeriod, billingPeriod, period.full, calendar.billingGrid)
  return { scale: isWhole(scale) ? WHOLE : scale, share: metered ? WHOLE : periodShare(period) }
}

function volumeOf(charge: Charge, interval: Interval, usage: UsageFigures): Volume {
  const { calculation, schedule } = charge
  if (!calculation) throw new Error(`the metered charge ${charge.key} has no calculation`)
  const figures = usage.get(needKey(charge, interval))
  if (!figures) throw new Error(`the usage of ${charge.key} was not read`)
  if (calculation.value_type !== 'AMOUNT') {
    const [figure] = figures.filter(({ currency }) => currency === null)
    return numberVolume(withPersistedUsage(charge, interval, figure ?? null), decimalOfInteger(figure?.count ?? 0))
  }
  const foreign = figures.find(({ currency, number }) => currency !== schedule.pricing_currency && !number.eq(ZERO))
  if (foreign) {
    throw new AppError(
      'INVALID_OPERATION',
      `Usage in ${foreign.currency ?? 'plain numbers'} cannot be priced in ${schedule.pricing_currency}: there is no exchange rate.`,
      { resourceId: calculation.id, resourceType: 'METER_VALUE_CALCULATION' },
    )
  }
  const figure = figures.find(({ currency }) => currency === schedule.pricing_currency)
  const quantity = withPersistedUsage(charge, interval, figure ?? null)
  return amountVolume(quantity, schedule.pricing_currency, decimalOfInteger(figure?.count ?? 0))
}

/** What events come to, on top of the persisted usage at the moment they are counted from, if there is any. */
export function withPersistedUsage(
  { calculation, persisted }: Charge,
  interval: Interval,
  figure: Pick<UsageFigure, 'number' | 'count'> | null,
): Decimal {
  const state = persistedUsageAt(persisted, interval)
  if (!state) return figure?.number ?? ZERO
  const type = calculation?.calculation_type ?? ''
  if (!isPersistable(type)) throw new Error(`persisted usage of ${type}`)
  return carriedOn(type, state.usage, figure === null || figure.count === 0 ? null : figure.number)
}
