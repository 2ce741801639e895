// Wire shapes of prices, and the canonical form in which a pricing stores and shows them. A member that is not here is
// refused by name.
import Type, { type Static } from 'typebox'
import { BLOCK_ROUNDINGS, type BlockRounding } from '../../../../shared/rating/block-rounding.ts'
import { INCLUDED_VOLUME_RESETS } from '../../../../shared/rating/included/included-volume.ts'
import { BANDS_MAX } from '../../../../shared/rating/parse/parse-price-config.ts'
import { STEP_ACCUMULATIONS, type StepAccumulation } from '../../../../shared/rating/price-model.ts'
import type { SupportedPricingType } from '../../../../shared/rating/rate.ts'
import { RATE_PERS, type RatePer } from '../../../../shared/rating/rate-events.ts'
import {
  Amount,
  Currency,
  DecimalText,
  DisplayOrder,
  IdText,
  Included,
  LifecycleStatus,
  Nullable,
  OneOf,
  Optional,
  Period,
  Reference,
  Shape,
  Timestamp,
} from '../../../resource/shapes.ts'
import { type Conditions, ConfigConditions, type Expression, TieringConditions } from '../conditions/schema.ts'
import { Credits } from '../credit-types/schema.ts'

const ITEMS_MAX = 200
/** By what a rule of a PER_SEAT price grants: by the paid seats together, or by each assignment. */
const SEAT_SOURCES = ['SEAT_POOL', 'PER_SEAT'] as const
const Given = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))

/**
 * What is metered: a number of it, an amount where money is metered, or a number of events. Units and seats take `number` alone; the
 * others are refused by name where the price is checked.
 */
export const MeteredValue = Shape(
  { number: Given(DecimalText), amount: Given(Amount), count: Given(DecimalText) },
  { title: 'PricingItemConfigMeterValue' },
)

export const PricingBand = Shape({
  amount: Given(Amount),
  fixed_amount: Given(Amount),
  percentage: Given(DecimalText),
  credits: Given(Credits),
  minimum_amount: Given(Amount),
  maximum_amount: Given(Amount),
  minimum_number: Given(DecimalText),
  maximum_number: Given(DecimalText),
  block_size: Given(MeteredValue),
  tier_top_bound: Given(MeteredValue),
})

// Which pricing types are priced is for rating to say, so the text is checked with the rest of the price.
const PricingType = Type.String({ minLength: 1, maxLength: 64 })

/** Usage that is free: a number, or of metered money an amount or a count of events. */
const IncludedVolume = Shape({
  number: Given(DecimalText),
  amount: Given(Amount),
  count: Given(DecimalText),
  reset_type: Given(Type.Enum(INCLUDED_VOLUME_RESETS)),
})

/** What becomes of the unused rest of the last block. */
const TopUp = Shape({ rollover: Given(Type.Boolean()) })

/** By which properties usage is priced apart. */
const SPLIT_MAX = 5
const SplitPricingShape = Shape(
  {
    meter_properties: Type.Array(
      Shape(
        {
          id: Given(IdText('meter property')),
          reference: Given(Reference),
          meter_property: Given(Included('MeterProperty')),
        },
        { title: 'SplitProperty' },
      ),
      { minItems: 1, maxItems: SPLIT_MAX },
    ),
  },
  { title: 'SplitPricing' },
)

/** How many rules of one price grant to wallets. */
const RULES_MAX = 10
/** How many credits a price pays for; a bare number is the rate. */
const Conversion = Type.Union([
  DecimalText,
  Shape({ credit_type_id: Given(IdText('credit type')), rate: DecimalText }, { title: 'WalletGrantConversion' }),
])
const WalletGrantRuleShape = Shape(
  {
    wallet_type_id: IdText('wallet type'),
    wallet_type: Given(Included('WalletType')),
    source: Given(Type.Enum(SEAT_SOURCES)),
    amount_grant: Given(
      Shape(
        { amount: Given(Amount), percentage: Given(DecimalText) },
        { title: 'PricingItemConfigWalletGrantAmountGrant' },
      ),
    ),
    credits_grant: Given(
      Shape(
        { credits: Given(Credits), conversion: Given(Conversion) },
        { title: 'PricingItemConfigWalletGrantCreditsGrant' },
      ),
    ),
    expiry_policy: Given(
      Shape({ expiry_period: Given(Period) }, { title: 'PricingItemConfigWalletGrantExpiryPolicy' }),
    ),
  },
  { title: 'PricingItemConfigWalletGrant' },
)

/** What answers show of prices that a schedule overrides: taken where it is sent back, and not read. */
const OverriddenId = Given(Type.String({ maxLength: 64 }))
export const ShownOverride = Given(OneOf('ALL', 'SPECIFIC'))

export const PricingItemConfigShape = Shape({
  object_type: Optional(Type.Literal('PRICING_ITEM_CONFIG')),
  id: Optional(IdText('config of this item')),
  original_pricing_item_config_id: OverriddenId,
  pricing_type: Given(PricingType),
  type: Given(PricingType),
  billing_period: Given(Period),
  pricing_period: Given(Period),
  bands: Given(Type.Array(PricingBand, { maxItems: BANDS_MAX })),
  order: Given(DisplayOrder),
  billing_in_advance: Given(Type.Boolean()),
  conditions: Given(ConfigConditions),
  top_up: Given(TopUp),
  step_accumulation: Given(Type.Enum(STEP_ACCUMULATIONS)),
  block_rounding: Given(Type.Enum(BLOCK_ROUNDINGS)),
  rate_per: Given(Type.Enum(RATE_PERS)),
  default_included_volume: Given(IncludedVolume),
  tiering_conditions: Given(TieringConditions),
  volume_group_reference: Given(Reference),
  split_pricing: Given(SplitPricingShape),
  default_units: Given(MeteredValue),
  default_seats_value: Given(MeteredValue),
  on_demand: Given(Type.Boolean()),
  wallet_grants: Given(Type.Array(WalletGrantRuleShape, { maxItems: RULES_MAX })),
})

/** How many currencies, or billing periods, an item has prices for. */
const VARIANTS_MAX = 50
const Configs = Type.Array(PricingItemConfigShape, { maxItems: ITEMS_MAX })
const BillingPeriodConfigs = Type.Array(
  Shape({ billing_period: Period, configs: Configs }, { title: 'PricingItemBillingPeriodConfig' }),
  { maxItems: VARIANTS_MAX },
)
const PricingCurrencyConfigs = Type.Array(
  Shape(
    {
      currency: Currency,
      configs: Given(Configs),
      billing_period_configs: Given(BillingPeriodConfigs),
      fallback_currency: Given(Currency),
    },
    { title: 'PricingItemPricingCurrencyConfig' },
  ),
  { maxItems: VARIANTS_MAX },
)

export const PricingItemShape = Shape({
  object_type: Optional(Type.Literal('PRICING_ITEM')),
  id: Optional(IdText('item of this pricing')),
  original_pricing_item_id: OverriddenId,
  override: ShownOverride,
  product_item_ids: Type.Array(IdText('product item'), { maxItems: ITEMS_MAX }),
  product_items: Given(Type.Array(Included('ProductItem'), { maxItems: ITEMS_MAX })),
  configs: Given(Configs),
  pricing_currency_configs: Given(PricingCurrencyConfigs),
  billing_period_configs: Given(BillingPeriodConfigs),
  display_order: Given(DisplayOrder),
})

export const PricingItemsShape = Type.Array(PricingItemShape, { maxItems: ITEMS_MAX })
export const ProductIds = Type.Array(IdText('product'), { minItems: 1, maxItems: ITEMS_MAX, uniqueItems: true })

/** When a version of a rate card comes into force; it is in force until the next one is. */
export const RateCardShape = Shape({ start_at: Timestamp }, { title: 'RateCard' })
export type RateCard = Static<typeof RateCardShape>

export const Currencies = Type.Array(Currency)
export const PricingPlanVersionInfos = Type.Array(
  Type.Object({
    version: Type.Integer(),
    id: Type.String(),
    status: LifecycleStatus,
    rate_card: Optional(Nullable(RateCardShape)),
  }),
)
export const PricingCategories = Type.Array(
  Type.Object({
    object_type: Type.Literal('PRICING_CATEGORY'),
    id: Type.String(),
    product_category_id: Nullable(Type.String()),
    product_category: Optional(Nullable(Included('ProductCategory'))),
    display_order: Nullable(Type.Integer()),
    pricings: Type.Array(Included('Pricing')),
    pricing_groups: Type.Array(Included('PricingGroup')),
  }),
)

export type PricingBand = Static<typeof PricingBand>
export type IncludedVolume = Static<typeof IncludedVolume>
/** Conditions that are an expression. */
export type Tiering = { name: string | null; expression: Expression }
/** The properties a price is split by, by both of their names. */
export type SplitPricing = { meter_properties: { id: string; reference: string }[] }
/** A rule by which a charge grants to a wallet, as stored; exactly one way to find the quantity is not null. */
export type WalletGrantRule = {
  wallet_type_id: string
  /** Only of a PER_SEAT item. */
  source: (typeof SEAT_SOURCES)[number] | null
  amount_grant: { amount: Static<typeof Amount> | null; percentage: string | null } | null
  credits_grant: {
    credits: Static<typeof Credits> | null
    conversion: { credit_type_id: string | null; rate: string } | null
  } | null
  /** Null: it never expires. */
  expiry_policy: { expiry_period: Static<typeof Period> } | null
}
export type PricePeriod = Static<typeof Period>
/** What a request may say about a config, before it is canonical. */
export type PricingItemConfigInput = Static<typeof PricingItemConfigShape>
export type PricingItemInput = Static<typeof PricingItemShape>

/** A config as stored and shown. */
export type PricingItemConfig = {
  object_type: 'PRICING_ITEM_CONFIG'
  id: string
  pricing_type: SupportedPricingType
  /** The same as `pricing_type`, under its other name. */
  type: SupportedPricingType
  /** How often it is invoiced; null: every billing period of the subscription. */
  billing_period: PricePeriod | null
  /** The span its price and tiers hold for; null: the billing period. */
  pricing_period: PricePeriod | null
  bands: PricingBand[]
  order: number
  billing_in_advance: boolean
  /** Which usage it prices; null for the default, which prices what no other config of the item does. */
  conditions: Conditions | null
  /** What becomes of the rest of the last block, of a price that sells whole ones; null where it is lost. */
  top_up: { rollover?: boolean | null } | null
  /** Whether a step charges the fees of all steps reached. */
  step_accumulation: StepAccumulation | null
  /** What becomes of a part of a block; absent and NONE: it costs its share. */
  block_rounding?: BlockRounding | null
  /** Whether each event is priced on its own; null and PERIOD: the usage of a pricing period together. */
  rate_per?: RatePer | null
  /** What is free of the usage; null where nothing is. Prices saved before it existed lack it. */
  default_included_volume?: IncludedVolume | null
  /** Which events count for the tier; null: the usage that is priced. */
  tiering_conditions?: Tiering | null
  /** The same on prices that find their tier by what they use together. */
  volume_group_reference?: string | null
  /** Usage of each combination of values of these properties is priced on its own; null: all of it together. */
  split_pricing?: SplitPricing | null
  /** Of an item that is sold once at a price per unit: how many, where the schedule does not say. */
  default_units?: Static<typeof MeteredValue> | null
  /** Of an item that is charged by seats: how many, where the schedule does not say. */
  default_seats_value?: Static<typeof MeteredValue> | null
  /** Of an item that is sold once: whether only a charge on demand bills it. Prices saved before it existed lack it. */
  on_demand?: boolean
  /** What its charges grant to wallets. */
  wallet_grants?: WalletGrantRule[] | null
}

type PeriodConfigs = { billing_period: PricePeriod; configs: PricingItemConfig[] }
type CurrencyConfigs = {
  currency: string
  /** The currency whose prices apply where this one has none for a billing period. */
  fallback_currency?: string
  configs?: PricingItemConfig[]
  billing_period_configs?: PeriodConfigs[]
}

/** An item as stored and shown. This release prices exactly one product item. */
export type PricingItem = {
  object_type: 'PRICING_ITEM'
  id: string
  product_item_ids: string[]
  /** Of every currency and billing period; empty where it has variants. */
  configs: PricingItemConfig[]
  /** Its variants by currency, or by billing period (pricing-plans/variants); absent where it has none. */
  pricing_currency_configs?: CurrencyConfigs[]
  billing_period_configs?: PeriodConfigs[]
  display_order: number | null
}
