import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../shared/ids.ts'
import { tenantColumns, timestamp, wireJson } from '../../resource/columns.ts'
import type { PAUSABLE } from '../../resource/shapes.ts'
import type { CouponDiscount, CouponDuration, CouponLimitedTo, PromotionCodeLimitedTo } from './schema.ts'

type Status = (typeof PAUSABLE)[number]

const redeemable = <Prefix extends string>() => ({
  ...tenantColumns<Prefix>(),
  status: text().$type<Status>().notNull(),
  start_at: timestamp(),
  end_at: timestamp(),
  maximum_redemptions: integer(),
})

export const coupons = pgTable('coupons', {
  ...redeemable<'coup'>(),
  reference: text().notNull(),
  name: text().notNull(),
  description: text(),
  discount: wireJson<CouponDiscount>().notNull(),
  duration: wireJson<CouponDuration>().notNull(),
  limited_to: wireJson<CouponLimitedTo>(),
})

export const promotionCodes = pgTable('promotion_codes', {
  ...redeemable<'prco'>(),
  coupon_id: text().$type<Id<'coup'>>().notNull(),
  code: text().notNull(),
  code_format: text(),
  limited_to: wireJson<PromotionCodeLimitedTo>(),
})

/** A coupon on a subscription, counted once however many schedules of it have the coupon. */
export const couponRedemptions = pgTable('coupon_redemptions', {
  ...tenantColumns<'core'>(),
  coupon_id: text().$type<Id<'coup'>>().notNull(),
  /** Null when the coupon was named by its id. */
  promotion_code_id: text().$type<Id<'prco'>>(),
  code: text(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  pricing_plan_subscription_id: text().$type<Id<'ppsu'>>().notNull(),
  redeemed_at: timestamp().notNull(),
})

export type Coupon = typeof coupons.$inferSelect
export type PromotionCode = typeof promotionCodes.$inferSelect
