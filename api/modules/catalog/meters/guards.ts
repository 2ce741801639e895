// What a meter lists stays while it does.
import { containing, namedBy } from '../../../resource/rules.ts'
import { meterPropertyResource } from './meter-property.ts'
import { meterValueResource } from './meter-value.ts'
import { meters } from './table.ts'

const byMeter = { table: meters, noun: 'meter' } as const

export const METER_GUARDS = [
  namedBy(meterValueResource, { ...byMeter, names: containing(meters.meter_values, id => [{ id }]) }),
  namedBy(meterPropertyResource, { ...byMeter, names: containing(meters.meter_properties, id => [{ id }]) }),
] as const
