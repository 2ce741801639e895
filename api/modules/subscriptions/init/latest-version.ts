// A schedule of a template that sells the LATEST version of a plan, as it is sold when a subscription is made from the template.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { namedVersion } from '../schedules/schedule-version.ts'
import { termsInVersion } from '../succession/terms-in-version.ts'
import type { Schedule } from '../table.ts'

/**
 * What the schedule states, for the version that its selector names now; itself where it named the version otherwise, or where that is
 * the version it has. Throws RESOURCE_NOT_FOUND when the plan has no ACTIVE version, and INVALID_FIELD for `given` units of a price
 * that the latest version does not sell.
 */
export async function withLatestVersion(uow: Uow, schedule: Schedule, given: Schedule['units']): Promise<Schedule> {
  const { pricing_plan_version_selector: selector } = schedule
  if (selector === null || selector.type === 'VERSION') return schedule
  const version = await namedVersion(uow, { pricing_plan_version_selector: selector })
  if (!version || version.id === schedule.pricing_plan_version_id || version.rate_card !== null) return schedule
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
