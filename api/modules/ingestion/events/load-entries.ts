// What a meter lists, as the events of it are checked against.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import { findMany, findOne } from '../../../resource/store.ts'
import { meterResource } from '../../catalog/meters/meter.ts'
import { meterPropertyResource } from '../../catalog/meters/meter-property.ts'
import { meterValueResource } from '../../catalog/meters/meter-value.ts'
import type { Meter, MeterEntry, MeterProperty, MeterValue } from '../../catalog/meters/table.ts'
import type { MeterEntries } from './read-measures.ts'

/** The meter of this id or reference with what it lists; null when there is none. */
export async function loadEntries(
  uow: ReadUow,
  idOrReference: string,
): Promise<{ readonly meter: Meter; readonly entries: MeterEntries } | null> {
  const meter = await findOne(uow, meterResource, idOrReference)
  if (!meter) return null
  const ids = (entries: readonly MeterEntry[]) => entries.map(({ id }) => id)
  const values = new Map((await findMany(uow, meterValueResource, ids(meter.meter_values))).map(row => [row.id, row]))
  const properties = new Map(
    (await findMany(uow, meterPropertyResource, ids(meter.meter_properties))).map(row => [row.id, row]),
  )
  const entries = {
    reference: meter.reference,
    values: meter.meter_values.flatMap(({ id, required = false }) => {
      const row = values.get(idOf('metv', id)) as MeterValue | undefined
      return row ? [{ id, reference: row.reference, type: row.type, required }] : []
    }),
    properties: meter.meter_properties.flatMap(({ id, required = false }) => {
      const row = properties.get(idOf('metp', id)) as MeterProperty | undefined
      return row ? [{ id, reference: row.reference, type: row.type, enumValues: row.enum_values ?? [], required }] : []
    }),
  }
  return { meter, entries }
}
