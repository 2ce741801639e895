// The seats and units of a schedule for one that comes after it (contract: unit counts carried over).
import { isDeepStrictEqual } from 'node:util'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { loadRateCards, versionsDuring } from '../../catalog/pricing-plans/rate-card.ts'
import type { PricingPlanVersion } from '../../catalog/pricing-plans/table.ts'
import type { Terms } from '../../catalog/pricing-plans/variants/variants.ts'
import { carriedOwnVersion, idsOfPrices } from '../own-prices/carried-own-prices.ts'
import { scheduleTerms } from '../sold-items.ts'
import { entriesWithin, type ScheduleSpan } from '../stated-times.ts'
import type { Schedule } from '../table.ts'
import { versionsSold } from '../versions-sold.ts'
import { pricesOfVersions, type SoldPrice } from './check-counts.ts'

type Counts = Pick<Schedule, 'seats_values' | 'units' | 'included_volumes'>

/**
 * The same counts and included volumes for the prices that another version, or each version of another rate card, has for the same items; those it does not
 * sell are left out. Of a rate card, the counts are those of the version that prices the schedule last.
 */
export async function countsInVersion(
  uow: ReadUow,
  schedule: Schedule,
  to: ScheduleSpan & { readonly version: Pick<PricingPlanVersion, 'id' | 'pricing_plan_id'> },
): Promise<Counts> {
  const { seats_values, units, included_volumes } = schedule
  if (seats_values.length + units.length + included_volumes.length === 0)
    return { seats_values: [], units: [], included_volumes: [] }
  const terms = await scheduleTerms(uow, schedule)
  const old = await pricesOfVersions(uow, [await lastVersionOf(uow, schedule, to.start)], { terms })
  const sold = await pricesIn(uow, to.version, terms)
  const kept = await idsOfPrices(uow, carriedOwnVersion(schedule, to.version))
  const moved = <T extends { readonly pricing_item_config_id: string }>(entry: T): T[] =>
    kept.has(entry.pricing_item_config_id)
      ? [entry]
      : replacing(old.get(entry.pricing_item_config_id), sold, old).map(configId => ({
          ...entry,
          pricing_item_config_id: configId,
        }))
  return {
    seats_values: entriesWithin(seats_values, to).flatMap(moved),
    units: units.flatMap(moved),
    included_volumes: entriesWithin(included_volumes, to).flatMap(moved),
  }
}

/** The version that prices a schedule last before a time. */
export async function lastVersionOf(
  uow: ReadUow,
  { pricing_plan_id: planId, pricing_plan_version_id, start_at }: Schedule,
  before: string,
): Promise<string> {
  const card = (await loadRateCards(uow, [planId])).get(planId) ?? []
  return versionsDuring(card, { start_at, end_at: before }).at(-1)?.pricing_plan_version_id ?? pricing_plan_version_id
}

/** The prices of a version, or of each version of its rate card. */
export async function pricesIn(
  uow: ReadUow,
  { id, pricing_plan_id }: Pick<PricingPlanVersion, 'id' | 'pricing_plan_id'>,
  terms: Terms,
): Promise<Prices> {
  const versions = await versionsSold(uow, { pricing_plan_id, pricing_plan_version_id: id })
  return await pricesOfVersions(uow, versions, { terms })
}

type Prices = ReadonlyMap<string, SoldPrice>

/**
 * The ids of the prices that stand for a price: in each version the first of the same item for the same usage. A price for other usage
 * stands for it only where both versions have one price of the item, so that no two prices ever become one.
 */
export function replacing(
  price: SoldPrice | undefined,
  sold: Prices,
  old: Prices,
  isSame: typeof isSameItem = isSamePrice,
): string[] {
  if (price === undefined) return []
  const alike = [...sold].filter(([, other]) => isSame(price, other))
  const isOnly = [...old.values()].filter(other => isSame(price, other)).length <= 1
  return [...groupBy(alike, ([, { versionId }]) => versionId).values()].flatMap(own => {
    const [same] = own.filter(([, { config }]) => isDeepStrictEqual(testsOf(config), testsOf(price.config)))
    const only = isOnly && own.length === 1 ? own[0] : undefined
    const [id] = same ?? only ?? []
    return id === undefined ? [] : [id]
  })
}

export const isSameItem = (a: SoldPrice, b: SoldPrice): boolean =>
  b.productItemIds.some(id => a.productItemIds.includes(id))

/** Whether both price the same item the same way: units are of a FLAT price alone. */
const isSamePrice = (a: SoldPrice, b: SoldPrice): boolean =>
  (a.model === 'PER_SEAT' || a.config.pricing_type === b.config.pricing_type) && isSameItem(a, b)

/** What its conditions test, whatever they are called. */
const testsOf = ({ conditions }: SoldPrice['config']): unknown => {
  if (!conditions) return null
  const { name: _name, ...tests } = conditions
  return tests
}
