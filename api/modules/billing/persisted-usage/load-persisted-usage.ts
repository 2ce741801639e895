// The persisted states of a subscription's prices; billing counts on from them.
import { and, asc, desc } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { persistData } from './table.ts'

/** A persisted state of a price configuration; when several have the same moment, the last one applies. */
export type PersistedUsageInput = {
  readonly id: string
  readonly schedule_id: string
  readonly config_id: string
  readonly start_at: string
  readonly persist_usage: string
}

/**
 * The persisted usage that applies, by subscription: for each schedule, price and moment the state that was sent last.
 * In a fixed order, by time within a price.
 */
export async function loadPersistedUsage(
  uow: ReadUow,
  subscriptionIds: readonly string[],
): Promise<Map<string, PersistedUsageInput[]>> {
  const p = persistData
  const by = [p.pricing_plan_schedule_id, p.pricing_item_config_id, p.start_at]
  const rows = await uow.tx
    .selectDistinctOn(by, {
      subscription_id: p.pricing_plan_subscription_id,
      id: p.id,
      schedule_id: p.pricing_plan_schedule_id,
      config_id: p.pricing_item_config_id,
      start_at: p.start_at,
      persist_usage: p.persist_usage,
    })
    .from(p)
    .where(and(inThisTenant(uow, p), anyOf(p.pricing_plan_subscription_id, idsOf('ppsu', subscriptionIds))))
    .orderBy(...by.map(column => asc(column)), desc(p.seq))
  const found = new Map<string, PersistedUsageInput[]>()
  for (const [id, own] of groupBy(rows, row => row.subscription_id))
    found.set(
      id,
      own.map(({ subscription_id: _, ...state }) => state),
    )
  return found
}
