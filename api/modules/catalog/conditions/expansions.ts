// What the tests of conditions name, as a view can show it.
import type { Expansion } from '../../../resource/define-resource.ts'
import { meterPropertyVariableResource } from '../meter-property-variables/variable.ts'
import { meterPropertyResource } from '../meters/meter-property.ts'

/** For a resource that holds conditions or split prices: the property of each test, and its variable. They come first of all. */
export const CONDITION_EXPANSIONS = {
  meter_property: {
    by: 'id',
    to: () => meterPropertyResource,
    within: '**',
    under: ['meter_properties', 'meter_property'],
  },
  meter_property_variable: {
    by: 'meter_property_variable_id',
    to: () => meterPropertyVariableResource,
    within: '**',
  },
} as const satisfies Readonly<Record<string, Expansion>>
