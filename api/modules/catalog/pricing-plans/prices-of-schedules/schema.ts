// Wire shape of the prices that a schedule has without a plan, or on top of one (semantics 4.3).
import Type, { type Static } from 'typebox'
import {
  DisplayOrder,
  IdText,
  Included,
  Name,
  Nullable,
  OneOf,
  Optional,
  Shape,
  Timestamp,
} from '../../../../resource/shapes.ts'
import { EntitlementsShape } from '../../features/schema.ts'
import { SelectionConstraintShape } from '../../pricing-groups/schema.ts'
import { PricingItemsShape, ProductIds, ShownOverride } from '../schema.ts'

const CATEGORIES_MAX = 100
const PRICINGS_MAX = 200
const Given = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))
/** What answers show and the service sets: taken where it is sent back, and not read. */
const Shown = Given(Type.String({ maxLength: 64 }))
const ProductType = Given(OneOf('DEFAULT', 'ADDON'))

const GivenPricingShape = Shape(
  {
    object_type: Optional(Type.Literal('PRICING')),
    id: Given(IdText('pricing of the schedule')),
    original_pricing_id: Shown,
    override: ShownOverride,
    name: Given(Name),
    product_type: ProductType,
    product_ids: ProductIds,
    products: Given(Type.Array(Included('Product'))),
    display_order: Given(DisplayOrder),
    items: Given(PricingItemsShape),
    entitlements: Given(EntitlementsShape),
    pricing_plan_version_id: Shown,
    pricing_plan_schedule_id: Shown,
    pricing_group_id: Shown,
    created_at: Given(Timestamp),
    updated_at: Given(Timestamp),
  },
  { title: 'PricingOfSchedule' },
)
const Pricings = Given(Type.Array(GivenPricingShape, { maxItems: PRICINGS_MAX }))

const GivenGroupShape = Shape(
  {
    object_type: Optional(Type.Literal('PRICING_GROUP')),
    id: Given(IdText('pricing group of the schedule')),
    name: Name,
    product_type: ProductType,
    selection_constraint: Given(SelectionConstraintShape),
    display_order: Given(DisplayOrder),
    pricings: Pricings,
    pricing_plan_version_id: Shown,
    pricing_plan_schedule_id: Shown,
    created_at: Given(Timestamp),
    updated_at: Given(Timestamp),
  },
  { title: 'PricingGroupOfSchedule' },
)

export const GivenCategories = Type.Array(
  Shape(
    {
      object_type: Optional(Type.Literal('PRICING_CATEGORY')),
      id: Shown,
      product_category_id: Given(IdText('product category of the products')),
      product_category: Given(Included('ProductCategory')),
      display_order: Given(DisplayOrder),
      pricings: Pricings,
      pricing_groups: Given(Type.Array(GivenGroupShape, { maxItems: PRICINGS_MAX })),
    },
    { title: 'PricingCategoryOfSchedule' },
  ),
  { maxItems: CATEGORIES_MAX },
)
export type GivenCategories = Static<typeof GivenCategories>
export type GivenPricing = Static<typeof GivenPricingShape>
export type GivenGroup = Static<typeof GivenGroupShape>
