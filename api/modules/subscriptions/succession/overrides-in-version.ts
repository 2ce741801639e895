// The overrides of a schedule for another version of its plan.
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { PricingPlanVersion } from '../../catalog/pricing-plans/table.ts'
import type { Terms } from '../../catalog/pricing-plans/variants/variants.ts'
import { isSameItem, lastVersionOf, pricesIn, replacing } from '../counts/carry-counts.ts'
import { pricesOfVersions, type SoldPrice } from '../counts/check-counts.ts'
import { carriedOverrides, type PlacedPrice } from '../overrides/carry-overrides.ts'
import type { OverridePricing } from '../overrides/schema.ts'
import { carriedOwnVersion, idsOfPrices } from '../own-prices/carried-own-prices.ts'
import { scheduleTerms } from '../sold-items.ts'
import type { Schedule } from '../table.ts'

type To = {
  readonly version: Pick<PricingPlanVersion, 'id' | 'pricing_plan_id'>
  readonly start: string
  /** The terms of the new schedule, when they are not those of the old one. */
  readonly terms?: Terms
}

/**
 * The overrides for the prices of a version that replace those they are of. None for another plan, whose prices were not agreed;
 * and none of a price that is for one billing period alone, when that changes.
 */
export async function overridesInVersion(
  uow: ReadUow,
  schedule: Schedule,
  { version, start, terms }: To,
): Promise<OverridePricing[]> {
  const { override_pricings: overrides } = schedule
  if (overrides.length === 0 || version.pricing_plan_id !== schedule.pricing_plan_id) return []
  const last = [await lastVersionOf(uow, schedule, start)]
  const before = await pricesOfVersions(uow, last, { terms: await scheduleTerms(uow, schedule) })
  const still = terms ? await pricesOfVersions(uow, last, { terms }) : before
  const old = new Map([...before].filter(([id]) => still.has(id)))
  const sold = await pricesIn(uow, version, terms ?? (await scheduleTerms(uow, schedule)))
  const placed = (id: string, of: ReadonlyMap<string, SoldPrice>): PlacedPrice[] => {
    const price = of.get(id)
    if (!price) return []
    const { versionId, pricingId, itemId, config } = price
    return [{ versionId, pricingId, itemId, configId: id, pricingType: config.pricing_type }]
  }
  const own = await idsOfPrices(uow, carriedOwnVersion(schedule, version))
  const isOwn = ({ original_pricing_id: id }: OverridePricing): boolean => own.has(id)
  const ofPlan = overrides.filter(each => !isOwn(each))
  const carried = carriedOverrides(ofPlan, {
    prices: [...old.keys()].flatMap(id => placed(id, old)),
    replacing: ({ configId }) =>
      (sold.has(configId) ? [configId] : replacing(old.get(configId), sold, old, isSameItem)).flatMap(id =>
        placed(id, sold),
      ),
  })
  return [...overrides.filter(isOwn), ...carried]
}
