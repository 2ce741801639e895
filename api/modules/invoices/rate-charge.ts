// From a charge and its usage to an exact, signed amount with every figure that led to it. Pure.
import type { RoundingMode } from '../../../shared/billing/amount-pipeline.ts'
import { type Fraction, isWhole, multiplyFractions, timesFraction, WHOLE } from '../../../shared/billing/fraction.ts'
import { periodShare, pricingScale } from '../../../shared/billing/proration.ts'
import { carriedOn, isTellable, toldAt } from '../../../shared/billing/told-state.ts'
import { type Decimal, decimal, decimalOfInteger, ONE, ZERO } from '../../../shared/decimal.ts'
import { AppError } from '../../../shared/errors.ts'
import { amount, toMoney } from '../../../shared/money.ts'
import { parsePriceConfig } from '../../../shared/rating/parse-price-config.ts'
import { amountVolume, numberVolume, type Volume } from '../../../shared/rating/price.ts'
import { type PriceConfig, type RatedPrice, rate } from '../../../shared/rating/rate.ts'
import type { Interval } from '../../../shared/time.ts'
import type { BillingInputs } from './billing-inputs.ts'
import { type Charge, isMetered } from './charges.ts'
import type { LateCharge } from './late-usage.ts'
import { needKey, type UsageFigure, type UsageFigures } from './usage-needs.ts'
import { activeSpan, gridOf } from './windows.ts'

export type RatedCharge = {
  readonly charge: Charge
  readonly rated: RatedPrice
  /** What earlier invoices charged of the same pricing period; null when the charge starts it. */
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
export function rateCharge(inputs: BillingInputs, charge: Charge, usage: UsageFigures): RatedCharge {
  const config = priceOf(inputs, charge)
  const { scale, share } = fractionsOf(inputs, charge)
  const rated = rate(config, volumeOf(charge, charge.usage, usage))
  const before = charge.charged === null ? null : rate(config, volumeOf(charge, charge.charged, usage))
  const due = before === null ? rated.total.quantity : rated.total.quantity.minus(before.total.quantity)
  const scaled = timesFraction(due, multiplyFractions(scale, share))
  const exact = signed(charge, scaled)
  return { charge, rated, before, scale, share, exact, quantity: exact }
}

/** An amount as the invoice asks for it: what is deducted is below zero. */
export const signed = ({ productItem }: Charge, quantity: Decimal): Decimal =>
  quantity.eq(ZERO) ? ZERO : productItem.type === 'DEDUCTION' ? quantity.neg() : quantity

/**
 * Rates late usage: the whole of its time less what was asked for it before; null when there is nothing to ask. In DEFAULT
 * rounding the printed amounts of all parts sum to the printed amount of the whole. Where there is less than was asked for
 * (events were deleted or corrected) nothing is given back: closed invoices stay as they are. Less is asked only where the
 * price itself says that more usage costs less (TOP_TIERED).
 */
export function rateLate(
  inputs: BillingInputs,
  { charge, unit }: LateCharge,
  of: { readonly usage: UsageFigures; readonly rounding: RoundingMode },
): RatedCharge | null {
  const config = priceOf(inputs, charge)
  const volume = volumeOf(charge, charge.usage, of.usage)
  const counted = { ...volume, quantity: decimal(unit.last.number), count: decimal(unit.last.count) }
  if (volume.quantity.lt(counted.quantity)) return null
  const isMore =
    volume.count.gte(counted.count) && !(volume.quantity.eq(counted.quantity) && volume.count.eq(counted.count))
  const rated = rate(config, volume)
  const due = rated.total.quantity.minus(signed(charge, unit.exact))
  if (!isMore && due.lte(ZERO)) return null
  if (due.lt(ZERO) && !rate(config, counted).total.quantity.eq(signed(charge, unit.exact))) return null
  const whole = signed(charge, rated.total.quantity)
  const exact = whole.minus(unit.exact)
  const printed = toMoney(amount(whole, config.currency)).quantity.minus(unit.printed)
  return {
    charge,
    rated,
    before: { total: amount(signed(charge, unit.exact), config.currency), volume: counted },
    scale: WHOLE,
    share: WHOLE,
    exact,
    quantity: of.rounding === 'DEFAULT' ? printed : exact,
  }
}

/** A metered charge without usage and without money: left out of the invoice unless the platform wants it (1.1). */
export const isZeroUsage = ({ charge, rated, quantity }: RatedCharge): boolean =>
  isMetered(charge) && rated.volume.quantity.eq(ZERO) && quantity.eq(ZERO)

function priceOf(inputs: BillingInputs, { config, schedule, calculation }: Charge): PriceConfig {
  const { billing_currency } = inputs.subscription
  if (schedule.pricing_currency !== billing_currency) {
    throw new AppError(
      'INVALID_OPERATION',
      `Prices in ${schedule.pricing_currency} cannot be invoiced in ${billing_currency}: there is no exchange rate. Use one currency for both.`,
      { field: 'billing_currency', resourceId: schedule.id, resourceType: 'PRICING_PLAN_SCHEDULE' },
    )
  }
  const metric = calculation?.value_type === 'AMOUNT' ? 'AMOUNT' : 'NUMBER'
  const reading = parsePriceConfig(
    { pricing_type: config.pricing_type, bands: config.bands },
    { metric, currency: schedule.pricing_currency },
  )
  if (reading.kind === 'ok') return reading.config
  throw new AppError('INVALID_OPERATION', reading.fault.message, {
    field: reading.fault.field,
    resourceId: config.id,
    resourceType: 'PRICING_ITEM_CONFIG',
  })
}

/** Recurring prices are scaled to the billing period and prorated; a lump on usage is scaled; unit prices are neither (4.4). */
function fractionsOf(inputs: BillingInputs, charge: Charge): { scale: Fraction; share: Fraction } {
  const metered = isMetered(charge)
  if (metered && charge.config.pricing_type !== 'FIXED') return { scale: WHOLE, share: WHOLE }
  const span = activeSpan(inputs)
  if (!span) return { scale: WHOLE, share: WHOLE }
  const grid = gridOf(inputs, span, charge.billingPeriod)
  const scale = pricingScale(charge.pricingPeriod, charge.billingPeriod, charge.period.full, grid)
  return { scale: isWhole(scale) ? WHOLE : scale, share: metered ? WHOLE : periodShare(charge.period) }
}

function volumeOf(charge: Charge, interval: Interval | null, usage: UsageFigures): Volume {
  const { calculation, schedule } = charge
  if (!isMetered(charge)) return numberVolume(ONE)
  if (!calculation || !interval) throw new Error(`the metered charge ${charge.key} has no calculation`)
  const figures = usage.get(needKey(charge, interval))
  if (!figures) throw new Error(`the usage of ${charge.key} was not read`)
  if (calculation.value_type !== 'AMOUNT') {
    const [figure] = figures.filter(({ currency }) => currency === null)
    return numberVolume(withTold(charge, interval, figure ?? null), decimalOfInteger(figure?.count ?? 0))
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
  const quantity = withTold(charge, interval, figure ?? null)
  return amountVolume(quantity, schedule.pricing_currency, decimalOfInteger(figure?.count ?? 0))
}

/** What events come to, on top of the state that was told at the moment they are counted from, if one was. */
export function withTold(
  { calculation, told }: Charge,
  interval: Interval,
  figure: Pick<UsageFigure, 'number' | 'count'> | null,
): Decimal {
  const state = toldAt(told, interval)
  if (!state) return figure?.number ?? ZERO
  const type = calculation?.calculation_type ?? ''
  if (!isTellable(type)) throw new Error(`a state was told of ${type}`)
  return carriedOn(type, state.usage, figure === null || figure.count === 0 ? null : figure.number)
}
