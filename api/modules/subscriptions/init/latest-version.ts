// A schedule of a template that sells the LATEST version of a plan, as it is sold when a subscription is made from the template.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Row } from '../../../resource/define-resource.ts'
import type { PricingPlanVersion } from '../../catalog/pricing-plans/table.ts'
import { countsInVersion } from '../counts/carry-counts.ts'
import { namedVersion } from '../schedules/named-version.ts'
import { enabledInVersion } from '../succession/enabled-in-version.ts'
import { termsInVersion } from '../succession/terms-in-version.ts'
import type { Schedule } from '../table.ts'

/** The version that its selector names now, where that is not the one it has; null otherwise. Throws RESOURCE_NOT_FOUND when the plan has no ACTIVE version. */
async function laterVersion(uow: Uow, schedule: Schedule): Promise<PricingPlanVersion | null> {
  const { pricing_plan_version_selector: selector } = schedule
  if (selector === null || selector.type === 'VERSION') return null
  const version = await namedVersion(uow, { pricing_plan_version_selector: selector })
  return !version || version.id === schedule.pricing_plan_version_id || version.rate_card !== null ? null : version
}

/**
 * What the schedule states, for the version that its selector names now; itself where it named the version otherwise, or where that is
 * the version it has. Throws RESOURCE_NOT_FOUND when the plan has no ACTIVE version, and INVALID_FIELD for `given` units of a price
 * that the latest version does not sell.
 */
export async function withLatestVersion(uow: Uow, schedule: Schedule, given: Schedule['units']): Promise<Schedule> {
  const version = await laterVersion(uow, schedule)
  if (!version) return schedule
  const to = { version, start: schedule.start_at, end: schedule.end_at }
  for (const [index, unit] of given.entries()) {
    const carried = (await termsInVersion(uow, { ...schedule, units: [unit] }, to))['units']
    if (Array.isArray(carried) && carried.length > 0) continue
    const message = `Version ${version.version} of the plan, the latest, has no price for this; name a price that both versions have.`
    throw new AppError('INVALID_FIELD', message, { field: `units.${index}.pricing_item_config_id` })
  }
  return withTerms(schedule, await termsInVersion(uow, schedule, to))
}

/** The members are those of a schedule: they come from one. */
const withTerms = (schedule: Schedule, terms: Row): Schedule => ({ ...schedule, ...terms })

type Chosen = Pick<Schedule, 'seats_values' | 'enabled_pricings'>

/**
 * Seats and pricings that a customer chooses by the ids that the template shows, by those of the version that is sold. What that does not
 * replace stays as it is: it is of that version, or refused.
 */
export async function chosenInLatest(uow: Uow, stored: Schedule, chosen: Chosen): Promise<Chosen> {
  const version = await laterVersion(uow, stored)
  if (!version) return chosen
  const to = { version, start: stored.start_at, end: stored.end_at }
  const seats_values: Chosen['seats_values'][number][] = []
  for (const entry of chosen.seats_values) {
    const { pricing_item_config_id, number } = entry
    const named = { ...stored, units: [], included_volumes: [], seats_values: [{ pricing_item_config_id, number }] }
    const [moved] = (await countsInVersion(uow, named, to)).seats_values
    seats_values.push(moved ? { ...entry, pricing_item_config_id: moved.pricing_item_config_id } : entry)
  }
  const enabled_pricings: Chosen['enabled_pricings'][number][] = []
  for (const entry of chosen.enabled_pricings) {
    const named = { ...stored, enabled_pricings: [{ pricing_id: entry.pricing_id }] }
    const [moved] = await enabledInVersion(uow, named, to)
    enabled_pricings.push(moved ? { ...entry, pricing_id: moved.pricing_id } : entry)
  }
  return { seats_values, enabled_pricings }
}
