// Wire shape of the prices that a schedule has instead of those of its plan version (semantics 4.3).
import Type, { type Static } from 'typebox'
import { IdText, Name, Nullable, OneOf, Optional, Shape } from '../../../resource/shapes.ts'
import { PricingItemConfigShape } from '../../catalog/pricing-plans/schema.ts'

const ENTRIES_MAX = 200

/** What of a price an override may say. Which usage the price is of, and how often it is billed, stay as the plan has them. */
export const PRICE_MEMBERS = [
  'pricing_type',
  'type',
  'bands',
  'top_up',
  'step_accumulation',
  'block_rounding',
  'rate_per',
  'default_included_volume',
  'default_units',
  'default_seats_value',
  'billing_in_advance',
  'volume_group_reference',
] as const
export type PriceMember = (typeof PRICE_MEMBERS)[number]

const price = Object.fromEntries(PRICE_MEMBERS.map(name => [name, PricingItemConfigShape.properties[name]])) as Pick<
  typeof PricingItemConfigShape.properties,
  PriceMember
>

/** ALL restates everything below it: what it leaves out is not charged. SPECIFIC changes what it names. */
const OverrideKind = OneOf('ALL', 'SPECIFIC')

const OverrideConfigShape = Shape(
  { original_pricing_item_config_id: IdText('config of the plan version'), ...price },
  { title: 'OverridePricingItemConfig' },
)
const OverrideItemShape = Shape(
  {
    original_pricing_item_id: IdText('pricing item of the plan version'),
    override: Optional(Nullable(OverrideKind)),
    configs: Type.Array(OverrideConfigShape, { maxItems: ENTRIES_MAX }),
  },
  { title: 'OverridePricingItem' },
)
export const OverridePricings = Type.Array(
  Shape(
    {
      original_pricing_id: IdText('pricing of the plan version'),
      override: Optional(Nullable(OverrideKind)),
      name: Optional(Nullable(Name)),
      items: Type.Array(OverrideItemShape, { maxItems: ENTRIES_MAX }),
    },
    { title: 'OverridePricing' },
  ),
  { maxItems: ENTRIES_MAX },
)

/** As a body sends it. */
export type GivenOverride = Static<typeof OverridePricings>[number]
type GivenItem = GivenOverride['items'][number]
export type OverrideConfig = GivenItem['configs'][number]

type Kind = 'ALL' | 'SPECIFIC'
export type OverrideItem = Omit<GivenItem, 'override'> & { override: Kind }
/** As it is stored and shown: it says ALL or SPECIFIC at both levels. */
export type OverridePricing = Omit<GivenOverride, 'override' | 'items'> & { override: Kind; items: OverrideItem[] }
