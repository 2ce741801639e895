// What a coupon takes off, as lists of discounts, and what has changed of the coupons of a schedule. Pure.

import { localDateOf, startOfLocalDay, type Zone } from '../../../../shared/billing/local-days.ts'
import { addPeriod, addPeriodAt, type PeriodLength } from '../../../../shared/billing/periods.ts'
import { at, type Instant, instantOf } from '../../../../shared/time.ts'
import type { ClauseChange } from '../clauses/clause-entries.ts'
import type { AppliedCoupon, AppliedDiscount } from './schema.ts'

type Held = Pick<AppliedCoupon, 'coupon_id' | 'promotion_code_id' | 'promotion_code' | 'discount' | 'limited_to'>
/** From when to when it holds, as its lists show it. */
export type ShownTime = { readonly start_at: string; readonly end_at: string | null }

/** The discounts of a coupon by what it is limited to; null for free usage, which is no discount of money. */
export function discountOfCoupon(coupon: Held, time: ShownTime): AppliedDiscount | null {
  const { coupon_id, promotion_code_id, promotion_code: code, discount, limited_to } = coupon
  if (discount.usage) return null
  const { amount, percentage, condition } = discount
  const value = {
    ...time,
    ...(amount ? { amount } : {}),
    ...(percentage ? { percentage } : {}),
    ...(condition ? { condition } : {}),
    coupon_id,
    promotion_code_details: promotion_code_id && code ? { promotion_code_id, code } : null,
  }
  const { product_category_ids: categories, product_ids: products, product_item_ids: items } = limited_to ?? {}
  const on = (ids: readonly string[] | null | undefined) => (ids && ids.length > 0 ? [{ ids: [...ids], ...value }] : [])
  const lists = { product_items: on(items), products: on(products), product_categories: on(categories) }
  const named = Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0))
  return Object.keys(named).length > 0 ? named : { totals: [value] }
}

/** When a coupon of a schedule begins to count. */
export const startOfCoupon = ({ start_at }: Pick<AppliedCoupon, 'start_at'>, scheduleStart: string): string =>
  start_at ?? scheduleStart

type Times = {
  readonly zone: Zone
  /** When its schedule, or another of the subscription, begins. */
  readonly scheduleStarts: readonly string[]
  /** The start of the billing period that a time is in; null outside of the subscription. */
  readonly periodStart: (time: Instant) => Instant | null
}

/**
 * The time of a coupon, null for one that lasts. One that begins with a schedule, on the day on which a billing period begins, begins with that
 * period and ends at a local midnight, as it does: a month of it is on one monthly invoice, at whatever time of the day the schedule begins.
 */
export function timeOfCoupon(
  start: Instant,
  period: PeriodLength | null,
  { zone, scheduleStarts, periodStart }: Times,
): { readonly start: Instant; readonly end: Instant | null } {
  const begins = scheduleStarts.some(each => at(each) === start) ? periodStart(start) : null
  const day = localDateOf(start, zone)
  if (begins === null || localDateOf(begins, zone) !== day)
    return { start, end: period && addPeriodAt(start, period, zone) }
  return { start: begins, end: period && startOfLocalDay(addPeriod(day, period), zone) }
}

/** From when on coupons that were added or taken away change invoices: not before their schedule, though one may have begun on another. */
export function couponChanges(
  before: readonly AppliedCoupon[],
  after: readonly AppliedCoupon[],
  scheduleStart: string,
): ClauseChange[] {
  const fromOf = (coupon: AppliedCoupon): Instant =>
    instantOf(Math.max(at(startOfCoupon(coupon, scheduleStart)), at(scheduleStart)))
  const without = (list: readonly AppliedCoupon[], others: readonly AppliedCoupon[]) =>
    list.filter(({ coupon_id }) => !others.some(other => other.coupon_id === coupon_id))
  return [...without(after, before), ...without(before, after)].map(coupon => ({
    from: fromOf(coupon),
    path: coupon.promotion_code === null ? 'coupon_ids' : 'promotion_codes',
  }))
}
