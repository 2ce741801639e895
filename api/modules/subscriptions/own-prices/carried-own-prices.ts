// The prices that a schedule has besides its plan, for the schedule that comes after it.
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { PricingPlanVersion } from '../../catalog/pricing-plans/table.ts'
import { allConfigs } from '../../catalog/pricing-plans/variants/variants.ts'
import { pricingsOf } from '../../catalog/pricing-plans/version-pricings.ts'
import type { Schedule } from '../table.ts'
import { isWithoutPlan } from './show-own-prices.ts'

/** Their version, which another version of the plan keeps; null where there is none, and for another plan, with which they were not agreed. */
export const carriedOwnVersion = (
  schedule: Schedule,
  { pricing_plan_id }: Pick<PricingPlanVersion, 'pricing_plan_id'>,
): Id<'ppve'> | null =>
  pricing_plan_id === schedule.pricing_plan_id && !isWithoutPlan(schedule) ? schedule.own_pricing_plan_version_id : null

/** The ids of the pricings, items and configs of these prices; none without a version. */
export async function idsOfPrices(uow: ReadUow, versionId: Id<'ppve'> | null): Promise<ReadonlySet<string>> {
  if (versionId === null) return new Set()
  const sold = await pricingsOf(uow, [versionId])
  return new Set(
    sold.flatMap(({ id, items }) => [
      id,
      ...items.flatMap(item => [item.id, ...allConfigs(item).map(config => config.id)]),
    ]),
  )
}
