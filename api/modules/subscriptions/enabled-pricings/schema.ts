// Wire shape of the ADDONs and the pricings of groups that a schedule has enabled.
import Type, { type Static } from 'typebox'
import { IdText, Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'

const ENABLED_MAX = 200

export const EnabledPricings = Type.Array(
  Shape(
    {
      pricing_id: IdText('pricing'),
      start_at: Optional(Nullable(Timestamp)),
      end_at: Optional(Nullable(Timestamp)),
    },
    { title: 'EnabledPricing' },
  ),
  { maxItems: ENABLED_MAX },
)
export type EnabledPricing = Static<typeof EnabledPricings>[number]
