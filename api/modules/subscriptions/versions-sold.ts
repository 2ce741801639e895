// The versions whose prices a schedule can name: its own, or all ACTIVE ones of its rate card (semantics 3.1), and
// that of the prices it has besides.
import type { ReadUow } from '../../../shared/database/database.ts'
import { loadRateCards, versionsDuring } from '../catalog/pricing-plans/rate-card.ts'
import type { Schedule } from './table.ts'

type Of = Pick<Schedule, 'pricing_plan_id' | 'pricing_plan_version_id'> &
  Partial<Pick<Schedule, 'own_pricing_plan_version_id'>>

/** Their ids, each once. */
export async function versionsSold(
  uow: ReadUow,
  { pricing_plan_id: planId, pricing_plan_version_id, own_pricing_plan_version_id: own }: Of,
): Promise<string[]> {
  const versions = (await loadRateCards(uow, [planId])).get(planId) ?? []
  return [
    ...new Set([pricing_plan_version_id, ...versions.map(each => each.pricing_plan_version_id), ...(own ? [own] : [])]),
  ]
}

/** The ids of those that price some of its time: its own, or those of its rate card that are in force then. */
export async function versionsInForce(
  uow: ReadUow,
  schedule: Pick<Schedule, 'pricing_plan_id' | 'pricing_plan_version_id' | 'start_at' | 'end_at'>,
): Promise<string[]> {
  const card = (await loadRateCards(uow, [schedule.pricing_plan_id])).get(schedule.pricing_plan_id)
  if (!card) return [schedule.pricing_plan_version_id]
  return versionsDuring(card, schedule).map(each => each.pricing_plan_version_id)
}
