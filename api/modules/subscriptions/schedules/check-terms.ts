// Whether a schedule can have everything that it states, on the version that it sells.
import type { Uow } from '../../../../shared/database/database.ts'
import { checkClauses } from '../clauses/check-clauses.ts'
import { checkCounts } from '../counts/check-counts.ts'
import { checkEnabled } from '../enabled-pricings/check-enabled.ts'
import { checkIncludedVolumes } from '../included-volumes/check-included.ts'
import { checkOverrides } from '../overrides/check-overrides.ts'
import type { Schedule } from '../table.ts'

/**
 * Throws, with the path of the field, for the first of its terms that the schedule cannot have. `stored`: the schedule as it is; null for a
 * new one.
 */
export async function checkTerms(uow: Uow, schedule: Schedule, stored: Schedule | null): Promise<void> {
  await checkClauses(uow, schedule, stored)
  await checkEnabled(uow, schedule, stored)
  await checkOverrides(uow, schedule)
  await checkIncludedVolumes(uow, schedule, stored)
  await checkCounts(uow, schedule, stored)
}
