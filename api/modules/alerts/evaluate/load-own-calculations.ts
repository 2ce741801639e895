// Which calculations the prices count that schedules have besides their plan, or without one.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'

/** Their ids, by the version of these prices. Runs no query for none. */
export async function loadOwnCalculations(
  uow: ReadUow,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (versionIds.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ version_id: string; calculation_ids: string[] }>(sql`
    select p.pricing_plan_version_id as version_id, array_agg(distinct i.meter_value_calculation_id) as calculation_ids
    from pricings p
    cross join lateral jsonb_array_elements(p.items) as item
    join product_items i on i.platform_id = p.platform_id and i.environment = p.environment
      and item -> 'product_item_ids' ? i.id
    where p.platform_id = ${platformId} and p.environment = ${environment}
      and p.pricing_plan_version_id = any(${sql.param([...new Set(versionIds)])})
      and i.meter_value_calculation_id is not null
    group by p.pricing_plan_version_id`)
  return new Map(rows.map(row => [row.version_id, row.calculation_ids]))
}
