// The currencies that plans are sold in now.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'

/** By plan, in order: what its ACTIVE versions say they are sold in, else what their prices name. A plan without any is absent. */
export async function currenciesOfPlans(uow: ReadUow, planIds: readonly string[]): Promise<Map<string, string[]>> {
  if (planIds.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string; currencies: string[] }>(sql`
    select v.pricing_plan_id as id, array_agg(distinct named.currency order by named.currency) as currencies
    from pricing_plan_versions v
    cross join lateral (
      select jsonb_array_elements_text(v.pricing_currency_settings -> 'pricing_currencies') as currency
      union all
      select found #>> '{}' from pricings p
      cross join lateral (
        select jsonb_path_query(p.items, '$[*].**.bands[*].*.currency') as found
        union all
        select jsonb_path_query(p.items, '$[*].pricing_currency_configs[*].currency')
      ) as priced
      where v.pricing_currency_settings is null and p.platform_id = v.platform_id and p.environment = v.environment
        and p.pricing_plan_version_id = v.id
    ) as named
    where v.platform_id = ${platformId} and v.environment = ${environment} and v.status = 'ACTIVE'
      and v.pricing_plan_id = any(${sql.param([...planIds])})
    group by v.pricing_plan_id`)
  return new Map(rows.map(({ id, currencies }) => [id, currencies]))
}
