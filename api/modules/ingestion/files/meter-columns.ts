// What events of a meter may carry, as the columns of its DEFAULT file.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { findMany } from '../../../resource/store.ts'
import { meterValueResource } from '../../catalog/meters/meter-value.ts'
import type { Meter } from '../../catalog/meters/table.ts'
import type { MeterColumns } from './mapping/default-plan.ts'

/** The values and properties of a meter, in its own order. */
export async function meterColumns(uow: ReadUow, meter: Meter): Promise<MeterColumns> {
  const values = await findMany(
    uow,
    meterValueResource,
    meter.meter_values.map(entry => entry.id),
  )
  const types = new Map(values.map(value => [value.id, value.type]))
  // A value is not deleted while a meter lists it.
  const typeOf = (id: Id<'metv'>) => types.get(id) ?? 'NUMBER'
  return {
    id: meter.id,
    values: meter.meter_values.map(({ id, reference }) => ({
      reference: reference ?? id,
      type: typeOf(idOf('metv', id)),
    })),
    properties: meter.meter_properties.map(({ id, reference }) => reference ?? id),
  }
}
