// Wire shapes of the coupons of a schedule, and how they are kept on it.
import Type from 'typebox'
import { IdText, Nullable, Optional } from '../../../resource/shapes.ts'
import { Code, type CouponDiscount, CouponDuration, type CouponLimitedTo } from '../../coupons/schema.ts'
import { DiscountShape } from '../clauses/discount-schema.ts'

const COUPONS_MAX = 20

export const CouponIds = Type.Array(IdText('coupon'), { maxItems: COUPONS_MAX })
export const PromotionCodes = Type.Array(Code, { maxItems: COUPONS_MAX })

/** A coupon as its schedule shows it. */
export const AppliedCouponShape = Type.Object(
  {
    id: Type.String(),
    coupon_name: Type.String(),
    promotion_code_resource_id: Optional(Nullable(Type.String())),
    promotion_code: Optional(Nullable(Type.String())),
    duration: CouponDuration,
    discount: Optional(Nullable(DiscountShape)),
  },
  { title: 'AppliedCoupon' },
)

/** A coupon as it was when the schedule took it on: what is changed of the coupon later changes no invoice. */
export type AppliedCoupon = {
  readonly coupon_id: string
  readonly coupon_name: string
  readonly promotion_code_id: string | null
  readonly promotion_code: string | null
  readonly discount: CouponDiscount
  /** Of free usage: the reference of the meter value. */
  readonly meter_value_reference: string | null
  readonly duration: CouponDuration
  readonly limited_to: CouponLimitedTo | null
  /** From when on it counts; null for the start of the schedule. */
  readonly start_at: string | null
}
