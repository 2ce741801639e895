// What the items of a pricing are measured by.
import { and, eq } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { type Meter, meters, meterValueCalculations, meterValues } from '../../meters/table.ts'
import type { ProductItem } from '../../products/table.ts'

export type Measure = {
  readonly metric: 'NUMBER' | 'AMOUNT'
  /** How values of events become one number. */
  readonly type: string
  /** Whether usage is carried on from period to period. */
  readonly persist: boolean
  readonly meter: Pick<Meter, 'reference' | 'meter_properties'>
}

/** By calculation, of what is billed and of what decides on tiers. A count of distinct values is a number. */
export async function measuresOf(uow: ReadUow, items: readonly ProductItem[]): Promise<Map<string, Measure>> {
  const ids = items.flatMap(({ meter_value_calculation_id: billed, usage_based }) =>
    [billed, usage_based?.tiering_meter_value_calculation_id].filter(id => typeof id === 'string'),
  )
  if (ids.length === 0) return new Map()
  const c = meterValueCalculations
  const rows = await uow.tx
    .select({
      id: c.id,
      persist: c.persist,
      calculation: c.calculation_type,
      type: meterValues.type,
      reference: meters.reference,
      meter_properties: meters.meter_properties,
    })
    .from(c)
    .innerJoin(meters, and(inThisTenant(uow, meters), eq(meters.id, c.meter_id)))
    .leftJoin(meterValues, and(inThisTenant(uow, meterValues), eq(meterValues.id, c.meter_value_id)))
    .where(and(inThisTenant(uow, c), anyOf(c.id, idsOf('bmet', ids))))
  return new Map(
    rows.map(({ id, type, calculation, persist, ...meter }) => [
      id,
      { metric: type ?? 'NUMBER', type: calculation, persist, meter },
    ]),
  )
}
