// Wire shapes of product items. A field that is not here is refused by name.
import Type, { type Static } from 'typebox'
import { IdText, Included, Nullable, OneOf, Optional, Reference, Shape } from '../../../resource/shapes.ts'
import { type Conditions, ItemConditions } from '../conditions/schema.ts'

const REPORTS_MAX = 10

export const UsageBased = Shape({
  meter_value_calculation_id: IdText('meter value calculation'),
  /** What decides on the tier, where that is another metric than the one that is billed. */
  tiering_meter_value_calculation_id: Optional(Nullable(IdText('meter value calculation'))),
  /** What lines show beside what is billed. */
  report_meter_value_calculation_ids: Optional(
    Nullable(Type.Array(IdText('meter value calculation'), { maxItems: REPORTS_MAX, uniqueItems: true })),
  ),
  meter_value_calculation: Optional(Nullable(Included('MeterValueCalculation'))),
  tiering_meter_value_calculation: Optional(Nullable(Included('MeterValueCalculation'))),
  /** Which events the item is about; all of the calculation's meter without any. */
  conditions: Optional(Nullable(ItemConditions)),
})

/**
 * How an item is charged: by what is metered, in money or turned into credits, again and again, once, by seats, or by the credits
 * that wallets lack.
 */
export const ModelType = OneOf('USAGE_BASED', 'USAGE_BASED_CONVERSION', 'RECURRING', 'ONE_OFF', 'PER_SEAT', 'CREDITS')
export type ModelType = Static<typeof ModelType>

/** Whether items of the model are measured by a calculation. */
export const isMeasured = (model: string): model is 'USAGE_BASED' | 'USAGE_BASED_CONVERSION' =>
  model === 'USAGE_BASED' || model === 'USAGE_BASED_CONVERSION'

/** For a CREDITS item: the credits that it sells. */
export const ItemCredits = Shape(
  {
    credit_type_id: IdText('credit type'),
    credit_type: Optional(Nullable(Included('CreditType'))),
  },
  { title: 'ProductItemCredits' },
)
/** As stored. */
export type ItemCredits = { credit_type_id: string }

const FEATURES_MAX = 200
/** The features of a product, each named by id, by reference or by both. */
export const ProductFeatures = Type.Array(
  Shape(
    {
      object_type: Optional(Type.Literal('FEATURE')),
      id: Optional(Nullable(IdText('feature'))),
      reference: Optional(Nullable(Reference)),
    },
    { title: 'FeatureReference' },
  ),
  { maxItems: FEATURES_MAX },
)

/** As stored: conditions are canonical. */
export type UsageBased = {
  meter_value_calculation_id: string
  tiering_meter_value_calculation_id?: string | null
  /** Absent where there are none. */
  report_meter_value_calculation_ids?: string[]
  conditions?: Conditions | null
}
