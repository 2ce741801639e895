// Wire shapes of product items. A field that is not here is refused by name.
import Type, { type Static } from 'typebox'
import { IdText, Shape } from '../../resource/shapes.ts'

export const UsageBased = Shape({ meter_value_calculation_id: IdText('meter value calculation') })

const UnitText = Type.String({ minLength: 1, maxLength: 64 })
export const UnitName = Shape({ singular: UnitText, plural: UnitText })

export type UsageBased = Static<typeof UsageBased>
export type UnitName = Static<typeof UnitName>
