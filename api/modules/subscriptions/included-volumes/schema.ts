// The usage that a schedule includes in its prices, and when (shapes: ConfiguredMeterValueIncludedVolume).
import Type, { type Static } from 'typebox'
import { INCLUDED_VOLUME_RESETS } from '../../../../shared/rating/included/included-volume.ts'
import { Amount, DecimalText, IdText, Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'

const ENTRIES_MAX = 200

export const IncludedVolumesShape = Type.Array(
  Shape(
    {
      pricing_item_config_id: IdText('price of a pricing item'),
      number: Optional(Nullable(DecimalText)),
      amount: Optional(Nullable(Amount)),
      count: Optional(Nullable(DecimalText)),
      reset_type: Optional(Nullable(Type.Enum(INCLUDED_VOLUME_RESETS))),
      start_at: Optional(Nullable(Timestamp)),
      end_at: Optional(Nullable(Timestamp)),
    },
    { title: 'ScheduleIncludedVolume' },
  ),
  { maxItems: ENTRIES_MAX },
)
export type ScheduleIncludedVolume = Static<typeof IncludedVolumesShape>[number]
