// Which version prices a schedule at a moment: its own, or of a rate card the one in force then (semantics 3.1).

import type { ReadUow } from '../../../../shared/database/database.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { loadRateCards } from '../../catalog/pricing-plans/rate-card.ts'
import { loadPricedPeriods } from '../enabled-pricings/priced-periods.ts'
import type { Schedule } from '../table.ts'

type Priced = Pick<
  Schedule,
  'pricing_plan_subscription_id' | 'pricing_plan_id' | 'pricing_plan_version_id' | 'start_at' | 'end_at'
>

/** The id of the version; null where the rate card has none in force in the schedule at that moment. */
export async function versionOfSchedule(uow: ReadUow, schedule: Priced, moment: Instant): Promise<Id<'ppve'> | null> {
  const { pricing_plan_id: planId, start_at, end_at } = schedule
  if (!(await loadRateCards(uow, [planId])).has(planId)) return schedule.pricing_plan_version_id
  const held = {
    subscriptionId: schedule.pricing_plan_subscription_id,
    cardId: planId,
    versionId: schedule.pricing_plan_version_id,
    enabled: [],
    start_ms: at(start_at),
    end_ms: end_at === null ? null : at(end_at),
  }
  const versions = (await loadPricedPeriods(uow, [held]))(held)
  const inForce = versions.find(({ start_ms, end_ms }) => start_ms <= moment && (end_ms === null || moment < end_ms))
  return idOf('ppve', inForce?.version_id ?? null)
}
