// The numbers of seats and of units that a schedule charges, by price (shapes: ConfiguredMeterValue).
import Type, { type Static } from 'typebox'
import { DecimalText, IdText, Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'

const ENTRIES_MAX = 200

const SeatsValueShape = Shape(
  {
    pricing_item_config_id: IdText('price of a pricing item'),
    number: DecimalText,
    start_at: Optional(Nullable(Timestamp)),
    set_start_at_to_now: Optional(Nullable(Type.Boolean())),
    end_at: Optional(Nullable(Timestamp)),
  },
  { title: 'SeatsValue' },
)
export type SeatsValue = Static<typeof SeatsValueShape>
export const SeatsValuesShape = Type.Array(SeatsValueShape, { maxItems: ENTRIES_MAX })

const ScheduleUnitsShape = Shape(
  { pricing_item_config_id: IdText('price of a pricing item'), number: DecimalText },
  { title: 'ScheduleUnits' },
)
export type ScheduleUnits = Static<typeof ScheduleUnitsShape>
export const UnitsShape = Type.Array(ScheduleUnitsShape, { maxItems: ENTRIES_MAX })
