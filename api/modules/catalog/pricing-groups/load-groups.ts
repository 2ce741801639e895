// The pricing groups of versions, and whether each can be selected from.
import { and, asc } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { SELECTION } from './schema.ts'
import { type PricingGroup, pricingGroups } from './table.ts'

/** The groups of these versions: by display order, those without one last, then by age. */
export async function groupsOf(uow: ReadUow, versionIds: readonly string[]): Promise<PricingGroup[]> {
  if (versionIds.length === 0) return []
  return await uow.tx
    .select()
    .from(pricingGroups)
    .where(
      and(inThisTenant(uow, pricingGroups), anyOf(pricingGroups.pricing_plan_version_id, idsOf('ppve', versionIds))),
    )
    .orderBy(asc(pricingGroups.display_order), asc(pricingGroups.created_at), asc(pricingGroups.id))
}

/** Whether every schedule of the version must enable something of the group. */
export const needsSelection = ({ selection_constraint }: PricingGroup): boolean =>
  SELECTION[selection_constraint].least > 0
