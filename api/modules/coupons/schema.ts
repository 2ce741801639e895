// Wire shapes of coupons and promotion codes. A field that is not here is refused by name.
import Type, { type Static } from 'typebox'
import { COMPARATORS } from '../../../shared/billing/steps/clauses.ts'
import {
  Amount,
  DecimalText,
  IdText,
  Included,
  Nullable,
  OneOf,
  Optional,
  Period,
  Shape,
} from '../../resource/shapes.ts'

const IDS_MAX = 100
const idsOf = (noun: string) => Optional(Nullable(Type.Array(IdText(noun), { maxItems: IDS_MAX })))

const listOf = (shape: string) => Optional(Nullable(Type.Array(Included(shape))))

/** On the amount that a discount would apply to. */
export const DiscountCondition = Shape(
  { comparator: OneOf(...COMPARATORS), value: Shape({ amount: Amount }, { title: 'DiscountConditionValue' }) },
  { title: 'DiscountCondition' },
)

export const CouponDiscount = Shape(
  {
    type: OneOf('PERCENTAGE', 'AMOUNT', 'USAGE'),
    percentage: Optional(Nullable(DecimalText)),
    amount: Optional(Nullable(Amount)),
    usage: Optional(
      Nullable(
        Shape(
          {
            meter_value_id: IdText('meter value'),
            number: Optional(Nullable(DecimalText)),
            amount: Optional(Nullable(Amount)),
          },
          { title: 'CouponDiscountUsage' },
        ),
      ),
    ),
    condition: Optional(Nullable(DiscountCondition)),
  },
  { title: 'CouponDiscount' },
)
export type CouponDiscount = Static<typeof CouponDiscount>

export const CouponDuration = Shape(
  { type: OneOf('ONE_TIME', 'FOREVER', 'PERIOD'), period: Optional(Nullable(Period)) },
  { title: 'CouponDuration' },
)
export type CouponDuration = Static<typeof CouponDuration>

export const CouponLimitedTo = Shape(
  {
    product_category_ids: idsOf('product category'),
    product_ids: idsOf('product'),
    product_item_ids: idsOf('product item'),
  },
  { title: 'CouponLimitedTo' },
)
/** As it is shown: what expand[] fills in, too. */
export const ShownCouponLimitedTo = Type.Object(
  {
    ...CouponLimitedTo.properties,
    product_categories: listOf('ProductCategory'),
    products: listOf('Product'),
    product_items: listOf('ProductItem'),
  },
  { title: 'CouponLimits' },
)
export type CouponLimitedTo = Static<typeof CouponLimitedTo>

export const ShownPromotionCodeLimitedTo = Type.Object(
  { customer_ids: idsOf('customer'), customers: listOf('Customer') },
  { title: 'PromotionCodeLimits' },
)
export const PromotionCodeLimitedTo = Shape(
  { customer_ids: Optional(Nullable(Type.Array(IdText('customer'), { maxItems: 1_000 }))) },
  { title: 'PromotionCodeLimitedTo' },
)
export type PromotionCodeLimitedTo = Static<typeof PromotionCodeLimitedTo>

export const MaximumRedemptions = Type.Integer({ minimum: 1, maximum: 1_000_000_000 })
/** What a customer types. Case does not count. */
export const Code = Type.String({ pattern: '^[0-9A-Za-z_-]{1,64}$' })
/** A code with a random character in the place of each #. */
export const CodeFormat = Type.String({ pattern: '^[0-9A-Za-z_#-]{1,64}$' })
