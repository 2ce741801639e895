import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns, timestamp, wireJson } from '../../resource/columns.ts'
import type { PAUSABLE } from '../../resource/shapes.ts'
import type { CouponDiscount, CouponDuration, CouponLimitedTo, PromotionCodeLimitedTo } from './schema.ts'

type Status = (typeof PAUSABLE)[number]

const redeemable = () => ({
  ...tenantColumns(),
  status: text().$type<Status>().notNull(),
  start_at: timestamp(),
  end_at: timestamp(),
  maximum_redemptions: integer(),
})

export const coupons = pgTable('coupons', {
  ...redeemable(),
  reference: text().notNull(),
  name: text().notNull(),
  description: text(),
  discount: wireJson<CouponDiscount>().notNull(),
  duration: wireJson<CouponDuration>().notNull(),
  limited_to: wireJson<CouponLimitedTo>(),
})

export const promotionCodes = pgTable('promotion_codes', {
  ...redeemable(),
  coupon_id: text().notNull(),
  code: text().notNull(),
  code_format: text(),
  limited_to: wireJson<PromotionCodeLimitedTo>(),
})

/** A coupon on a subscription, counted once however many schedules of it have the coupon. */
export const couponRedemptions = pgTable('coupon_redemptions', {
  ...tenantColumns(),
  coupon_id: text().notNull(),
  /** Null when the coupon was named by its id. */
  promotion_code_id: text(),
  code: text(),
  customer_id: text().notNull(),
  pricing_plan_subscription_id: text().notNull(),
  redeemed_at: timestamp().notNull(),
})

export type Coupon = typeof coupons.$inferSelect
export type PromotionCode = typeof promotionCodes.$inferSelect
