// The meter values of what is metered, as something else shows them.
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { findMany } from '../../../resource/store.ts'
import { viewsOf } from '../../../resource/views.ts'
import { meterValueResource } from './meter-value.ts'
import { meterValueCalculationResource } from './meter-value-calculation.ts'

/** What these calculations add up, by reference; one that counts events has none. */
export async function meterValuesOf(uow: ReadUow, calculationIds: ReadonlySet<string>): Promise<Row[]> {
  if (calculationIds.size === 0) return []
  const calculations = await findMany(uow, meterValueCalculationResource, [...calculationIds])
  const ids = new Set(calculations.flatMap(({ meter_value_id }) => meter_value_id ?? []))
  if (ids.size === 0) return []
  const views = await viewsOf(uow, meterValueResource, await findMany(uow, meterValueResource, [...ids]))
  return views.toSorted((a, b) => (String(a['reference']) < String(b['reference']) ? -1 : 1))
}
