// The pricings that a schedule has enabled, for another version of its plan.
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { PricingPlanVersion } from '../../catalog/pricing-plans/table.ts'
import { pricingsOf } from '../../catalog/pricing-plans/version-pricings.ts'
import { lastVersionOf } from '../counts/carry-counts.ts'
import { carriedEnabled } from '../enabled-pricings/carry-enabled.ts'
import type { EnabledPricing } from '../enabled-pricings/schema.ts'
import { carriedOwnVersion, idsOfPrices } from '../own-prices/carried-own-prices.ts'
import { entriesWithin, type ScheduleSpan } from '../stated-times.ts'
import type { Schedule } from '../table.ts'
import { versionsSold } from '../versions-sold.ts'

type To = ScheduleSpan & { readonly version: Pick<PricingPlanVersion, 'id' | 'pricing_plan_id'> }

/** Those that are enabled while the new schedule holds. None for another plan, which sells ADDONs of its own. */
export async function enabledInVersion(
  uow: ReadUow,
  schedule: Schedule,
  { version, start, end }: To,
): Promise<EnabledPricing[]> {
  const entries = entriesWithin(schedule.enabled_pricings, { start, end })
  const { id: pricing_plan_version_id, pricing_plan_id } = version
  if (entries.length === 0 || pricing_plan_id !== schedule.pricing_plan_id) return []
  const own = await idsOfPrices(uow, carriedOwnVersion(schedule, version))
  const old = await pricingsOf(uow, [await lastVersionOf(uow, schedule, start)])
  const now = await pricingsOf(uow, await versionsSold(uow, { pricing_plan_id, pricing_plan_version_id }))
  return [
    ...entries.filter(({ pricing_id }) => own.has(pricing_id)),
    ...carriedEnabled(
      entries.filter(({ pricing_id }) => !own.has(pricing_id)),
      { old, now },
    ),
  ]
}
