// Wire shapes of the coupons of a schedule, and how they are kept on it.
import Type, { type Static } from 'typebox'
import { IdText, Nullable, Optional } from '../../../resource/shapes.ts'
import { Code, type CouponDiscount, CouponDuration, type CouponLimitedTo } from '../../coupons/schema.ts'
import { DISCOUNT_VALUE } from '../clauses/discount-schema.ts'

const COUPONS_MAX = 20

export const CouponIds = Type.Array(IdText('coupon'), { maxItems: COUPONS_MAX })
export const PromotionCodes = Type.Array(Code, { maxItems: COUPONS_MAX })

/** The code by which a coupon was redeemed. */
export const PromotionCodeDetails = Type.Object(
  { promotion_code_id: Type.String(), code: Type.String() },
  { title: 'PromotionCodeDetails' },
)

const ofCoupon = {
  ...DISCOUNT_VALUE,
  coupon_id: Type.String(),
  promotion_code_details: Optional(Nullable(PromotionCodeDetails)),
}
const listOn = Optional(
  Nullable(Type.Array(Type.Object({ ids: Type.Array(Type.String()), ...ofCoupon }, { title: 'AppliedDiscountOnIds' }))),
)

/** What coupons take off, by what it is limited to. */
export const AppliedDiscountShape = Type.Object(
  {
    product_items: listOn,
    products: listOn,
    product_categories: listOn,
    totals: Optional(Nullable(Type.Array(Type.Object(ofCoupon, { title: 'AppliedTotalDiscount' })))),
  },
  { title: 'AppliedDiscount' },
)
export type AppliedDiscount = Static<typeof AppliedDiscountShape>

/** A coupon as its schedule shows it. */
export const AppliedCouponShape = Type.Object(
  {
    id: Type.String(),
    coupon_name: Type.String(),
    promotion_code_resource_id: Optional(Nullable(Type.String())),
    promotion_code: Optional(Nullable(Type.String())),
    duration: CouponDuration,
    discount: Optional(Nullable(AppliedDiscountShape)),
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
