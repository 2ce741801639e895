// Meter property variables: a list of values of one property that conditions of prices name, so that the list can change
// while the price stays (contract: Meter property variable and condition).
import Type from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { defineResource, field, type Resource, type Row, readOnly } from '../../../resource/define-resource.ts'
import { IdText, Reference } from '../../../resource/shapes.ts'
import { findMany } from '../../../resource/store.ts'
import { meterPropertyResource } from '../meters/meter-property.ts'
import { type MeterPropertyVariable, meterPropertyVariables } from './table.ts'

/** The values are not part of the variable: they are paged, and changed by a call of their own (routes.ts). */
export const meterPropertyVariableResource: Resource<MeterPropertyVariable> = defineResource<MeterPropertyVariable>({
  objectType: 'METER_PROPERTY_VARIABLE',
  shapeName: 'MeterPropertyVariable',
  idPrefix: 'mepv',
  path: 'meter-property-variables',
  table: meterPropertyVariables,
  fields: {
    reference: field(Reference, { change: 'never' }),
    meter_property_id: field(IdText('meter property'), { create: 'required', change: 'never' }),
    value_count: readOnly(Type.Integer({ description: 'How many values it has.' })),
  },
  operations: ['list', 'get', 'delete'],
  byReference: false,
  filters: { meter_property_id: { kind: 'equals', column: 'meter_property_id' } },
  expand: { meter_property: { by: 'meter_property_id', to: () => meterPropertyResource } },
  computed: { meter_property_reference: Type.String() },
  compute: referencesOf,
  fixture: {
    create: async seed => {
      const property = await seed.make(meterPropertyResource)
      return { meter_property_id: property.id, values: ['small'] }
    },
    update: null,
  },
})

async function referencesOf(uow: ReadUow, rows: readonly MeterPropertyVariable[]): Promise<readonly Row[]> {
  const ids = rows.map(row => row.meter_property_id)
  const properties = new Map((await findMany(uow, meterPropertyResource, ids)).map(row => [row.id, row.reference]))
  return rows.map(row => ({ meter_property_reference: properties.get(row.meter_property_id) ?? null }))
}
