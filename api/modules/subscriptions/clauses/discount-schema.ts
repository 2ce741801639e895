// Wire shapes of the discounts of a schedule, by what they are limited to.
import Type, { type Static } from 'typebox'
import { Amount, DecimalText, IdText, Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { DiscountCondition } from '../../coupons/schema.ts'

/** Discounts in one list of a schedule, and ids in one discount. */
const ENTRIES_MAX = 100

/** What every discount has. */
export const DISCOUNT_VALUE = {
  start_at: Optional(Nullable(Timestamp)),
  end_at: Optional(Nullable(Timestamp)),
  amount: Optional(Nullable(Amount)),
  percentage: Optional(Nullable(DecimalText)),
  condition: Optional(Nullable(DiscountCondition)),
}
const OnIds = Shape(
  {
    ids: Type.Array(IdText('thing that the list is for'), { minItems: 1, maxItems: ENTRIES_MAX }),
    ...DISCOUNT_VALUE,
  },
  { title: 'DiscountOnIds' },
)
const listOn = Optional(Nullable(Type.Array(OnIds, { maxItems: ENTRIES_MAX })))

export const DiscountShape = Shape(
  {
    pricing_item_configs: listOn,
    pricing_items: listOn,
    pricings: listOn,
    product_items: listOn,
    products: listOn,
    product_categories: listOn,
    totals: Optional(
      Nullable(Type.Array(Shape(DISCOUNT_VALUE, { title: 'TotalDiscount' }), { maxItems: ENTRIES_MAX })),
    ),
  },
  { title: 'Discount' },
)
export type Discount = Static<typeof DiscountShape>
