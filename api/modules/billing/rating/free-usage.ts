// What the free usage of coupons would have cost: each charge is rated again without it, and the difference is
// deducted. Pure.
import type { RoundingMode } from '../../../../shared/billing/amount-pipeline.ts'
import type { FreeUsage } from '../../../../shared/billing/steps/clauses.ts'
import { takeUsageDiscounts } from '../../../../shared/billing/steps/usage-discounts.ts'
import { type Decimal, decimal, sum, ZERO } from '../../../../shared/decimal.ts'
import { amount, toMoney } from '../../../../shared/money.ts'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import { isMetered, isRatedPerEvent } from '../terms/price-terms.ts'
import type { UsageFigures } from '../usage/usage-needs.ts'
import { type CountingCoupon, isLimitedTo } from './coupon-clauses.ts'
import { type RatedCharge, rateCharge } from './rate-charge.ts'

type Of = { readonly usage: UsageFigures; readonly rounding: RoundingMode }

/**
 * Applies the free usage of these coupons, one after the other, to the charges in their order. Late usage gets none:
 * the invoice of its time has used it up. Neither does a price that is split by values, because its usage has several
 * values at once.
 */
export function freeUsageOf(coupons: readonly CountingCoupon[], rated: readonly RatedCharge[], of: Of): FreeUsage[] {
  const taken = new Map<string, Decimal>()
  return coupons.flatMap(({ schedule, alsoOf, coupon }): FreeUsage[] => {
    const having = new Set([schedule.id, ...alsoOf])
    const own = rated.filter(each => having.has(each.charge.schedule.id) && isAbout(coupon, each))
    const parts = partsOf(coupon, own, { ...of, taken })
    if (parts.length === 0) return []
    return [
      {
        id: `${schedule.id} coupon_discount.usage.${coupon.coupon_id}`,
        quantity: sum(parts.map(part => part.quantity)),
        coupon: { couponId: coupon.coupon_id, promotionCodeId: coupon.promotion_code_id },
        parts: parts.map(({ lineKey, exact }) => ({ lineKey, exact })),
      },
    ]
  })
}

const isAbout = (coupon: AppliedCoupon, { charge, credits }: RatedCharge): boolean =>
  isMetered(charge) &&
  !credits &&
  charge.late === null &&
  !charge.split &&
  !isRatedPerEvent(charge) &&
  coupon.meter_value_reference !== null &&
  charge.calculation?.value_reference === coupon.meter_value_reference &&
  isLimitedTo(coupon, charge)

function partsOf(
  { discount: { usage }, coupon_id }: AppliedCoupon,
  own: readonly RatedCharge[],
  { taken, ...of }: Of & { readonly taken: Map<string, Decimal> },
) {
  const free = decimal(usage?.number ?? usage?.amount?.quantity ?? '0')
  const value = usage?.meter_value_id ?? ''
  const charges = own.map(({ charge, metered, before }) => ({
    key: charge.key,
    meterValueId: value,
    volume: {
      ...metered,
      quantity: metered.quantity.minus(before?.volume.quantity ?? ZERO).minus(taken.get(charge.key) ?? ZERO),
    },
  }))
  const result = takeUsageDiscounts(charges, [{ id: coupon_id, meterValueId: value, quantity: free }])
  return result.taken.flatMap(({ key, quantity }) => {
    const rated = own.find(({ charge }) => charge.key === key)
    if (!rated) return []
    const before = taken.get(key) ?? ZERO
    taken.set(key, before.plus(quantity))
    const exact = costWithout(rated, before, of).minus(costWithout(rated, before.plus(quantity), of))
    return exact.eq(ZERO) ? [] : [{ lineKey: key, quantity, exact }]
  })
}

/** The amount of the charge without this much of its usage, rounded like its line, so that the invoice adds up. */
function costWithout({ charge, metered, quantity }: RatedCharge, free: Decimal, { usage, rounding }: Of): Decimal {
  const less = { ...metered, quantity: metered.quantity.minus(free) }
  const cost = free.eq(ZERO) ? quantity : rateCharge(charge, usage, rounding, less).quantity
  return rounding === 'DEFAULT' ? toMoney(amount(cost, charge.billingCurrency)).quantity : cost
}
