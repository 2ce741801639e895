// The coupons of schedules as they are shown: each by itself, and their discounts together.
import { and, asc, eq } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { billingPeriodOf, zoneOfSubscription } from '../billing-time/billing-calendar.ts'
import { type Schedule, type Subscription, schedules, subscriptions } from '../table.ts'
import { discountOfCoupon, type ShownTime, startOfCoupon, timeOfCoupon } from './coupon-lists.ts'
import type { AppliedCoupon, AppliedDiscount } from './schema.ts'

/** `coupons` and `coupon_discount` of each schedule. */
export async function couponsOf(uow: ReadUow, rows: readonly Schedule[]): Promise<Row[]> {
  const ids = rows.filter(row => row.applied_coupons.length > 0).map(row => row.pricing_plan_subscription_id)
  const found = await subscriptionsOf(uow, ids)
  const views: Row[] = []
  for (const row of rows) views.push(await shownOf(uow, row, found.get(row.pricing_plan_subscription_id)))
  return views
}

async function subscriptionsOf(
  uow: ReadUow,
  ids: readonly Subscription['id'][],
): Promise<ReadonlyMap<string, Subscription>> {
  if (ids.length === 0) return new Map()
  const rows = await uow.tx
    .select()
    .from(subscriptions)
    .where(and(inThisTenant(uow, subscriptions), anyOf(subscriptions.id, [...new Set(ids)])))
  return new Map(rows.map(row => [row.id, row]))
}

async function shownOf(uow: ReadUow, row: Schedule, subscription: Subscription | undefined): Promise<Row> {
  if (!subscription) return { coupons: [], coupon_discount: null }
  const shown: { readonly coupon: AppliedCoupon; readonly discount: AppliedDiscount | null }[] = []
  for (const coupon of row.applied_coupons) {
    const time = await timeOf(uow, coupon, { subscription, schedule: row })
    shown.push({ coupon, discount: discountOfCoupon(coupon, time) })
  }
  return {
    coupons: shown.map(({ coupon, discount }) => ({
      id: coupon.coupon_id,
      coupon_name: coupon.coupon_name,
      promotion_code_resource_id: coupon.promotion_code_id,
      promotion_code: coupon.promotion_code,
      duration: coupon.duration,
      discount,
    })),
    coupon_discount: together(shown.flatMap(({ discount }) => (discount ? [discount] : []))),
  }
}

/** A PERIOD lasts for its length from where it begins; the others show no end. */
async function timeOf(
  uow: ReadUow,
  coupon: AppliedCoupon,
  { subscription, schedule }: { readonly subscription: Subscription; readonly schedule: Schedule },
): Promise<ShownTime> {
  const start = startOfCoupon(coupon, schedule.start_at)
  const { period } = coupon.duration
  if (!period) return { start_at: start, end_at: null }
  const zone = await zoneOfSubscription(uow, subscription)
  const all = await schedulesOf(uow, subscription.id)
  const { end } = timeOfCoupon(at(start), period, {
    zone,
    scheduleStarts: all.map(({ start_at }) => start_at),
    periodStart: time => billingPeriodOf({ subscription, schedules: all, zone }, time)?.covered.start ?? null,
  })
  return { start_at: start, end_at: end && formatInstant(end) }
}

/** In the order of time. */
async function schedulesOf(uow: ReadUow, subscriptionId: Subscription['id']): Promise<Schedule[]> {
  const where = and(inThisTenant(uow, schedules), eq(schedules.pricing_plan_subscription_id, subscriptionId))
  return await uow.tx.select().from(schedules).where(where).orderBy(asc(schedules.start_at))
}

function together(all: readonly AppliedDiscount[]): AppliedDiscount | null {
  if (all.length === 0) return null
  const merged: Record<string, unknown[]> = {}
  for (const discount of all) {
    for (const [list, entries] of Object.entries(discount)) merged[list] = [...(merged[list] ?? []), ...(entries ?? [])]
  }
  return merged as AppliedDiscount
}
