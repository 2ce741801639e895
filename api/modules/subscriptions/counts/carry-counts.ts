// The seats and units of a schedule for one that comes after it (contract: unit counts carried over).
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Schedule } from '../table.ts'
import { pricesOfVersion, type SoldPrice } from './check-counts.ts'
import type { SeatsValue } from './schema.ts'

type Counts = Pick<Schedule, 'seats_values' | 'units'>

/** The seats of a schedule as they are from `start` on. What has ended by then is left out. */
export const seatsFrom = (entries: readonly SeatsValue[], start: string): SeatsValue[] =>
  entries.flatMap(entry => {
    if (entry.end_at && entry.end_at <= start) return []
    const { start_at, ...rest } = entry
    return [start_at && start_at > start ? entry : rest]
  })

/** The same counts for the prices that another version has for the same items; those it does not sell are left out. */
export async function countsInVersion(
  uow: ReadUow,
  schedule: Schedule,
  to: { readonly versionId: string; readonly start: string },
): Promise<Counts> {
  const { seats_values, units } = schedule
  if (seats_values.length + units.length === 0) return { seats_values: [], units: [] }
  const old = await pricesOfVersion(uow, schedule.pricing_plan_version_id)
  const sold = await pricesOfVersion(uow, to.versionId)
  const moved = <T extends { readonly pricing_item_config_id: string }>(entry: T): T[] => {
    const from = old.get(entry.pricing_item_config_id)
    const found = [...sold].find(([, price]) => from && sameItem(from, price))
    return found ? [{ ...entry, pricing_item_config_id: found[0] }] : []
  }
  return { seats_values: seatsFrom(seats_values, to.start).flatMap(moved), units: units.flatMap(moved) }
}

/** Whether both price the same item the same way: units are of a FLAT price alone. */
const sameItem = (a: SoldPrice, b: SoldPrice): boolean =>
  (a.model === 'PER_SEAT' || a.config.pricing_type === b.config.pricing_type) &&
  b.productItemIds.some(id => a.productItemIds.includes(id))
