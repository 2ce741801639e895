// The recorded states of what rules target (docs/decisions/0015), for many subscriptions at once.
import { sql } from 'drizzle-orm'
import type { PersistedUsage } from '../../../../shared/billing/persisted-usage.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { decimal } from '../../../../shared/decimal.ts'
import { instantOf } from '../../../../shared/time.ts'
import { isOptionalIn } from '../../catalog/pricing-plans/checks/optional.ts'

/** By schedule and calculation (`persistedKey`), in the order of time. */
export type PersistedUsageByPrice = ReadonlyMap<string, readonly PersistedUsage[]>

export const persistedKey = (scheduleId: string, calculationId: string): string => `${scheduleId} ${calculationId}`

type PersistedRow = { schedule_id: string; calculation_id: string; id: string; at_ms: string; persist_usage: string }

/**
 * A state is recorded for one price. It is the state of what the price counts by where no other price of the schedule does; where
 * several share a calculation, by conditions, none of them has the whole, and what is used comes from the events.
 */
export async function loadPersisted(uow: ReadUow, subscriptionIds: readonly string[]): Promise<PersistedUsageByPrice> {
  if (subscriptionIds.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<PersistedRow>(sql`
    with told as (
      select distinct on (pricing_plan_schedule_id, pricing_item_config_id, start_at)
        pricing_plan_schedule_id as schedule_id, pricing_item_config_id as config_id, id, start_at, persist_usage
      from persist_data
      where platform_id = ${platformId} and environment = ${environment}
        and pricing_plan_subscription_id in ${[...subscriptionIds]}
      order by pricing_plan_schedule_id, pricing_item_config_id, start_at, seq desc
    ), prices as (
      select h.id as schedule_id, i.meter_value_calculation_id as calculation_id, min(config ->> 'id') as config_id
      from pricing_plan_schedules h
      join schedule_versions v on v.platform_id = h.platform_id and v.environment = h.environment
        and v.pricing_plan_schedule_id = h.id
      join pricings p on p.platform_id = h.platform_id and p.environment = h.environment
        and p.pricing_plan_version_id = v.pricing_plan_version_id
      cross join jsonb_array_elements(p.items) as item
      cross join jsonb_array_elements(item -> 'configs') as config
      join product_items i on i.platform_id = p.platform_id and i.environment = p.environment
        and item -> 'product_item_ids' ? i.id
      where h.platform_id = ${platformId} and h.environment = ${environment} and h.id in (select schedule_id from told)
        and i.meter_value_calculation_id is not null
        -- An ADDON, or a pricing in a group, that the schedule never enables is no price of it.
        and (not ${isOptionalIn('p')}
          or h.enabled_pricings @> jsonb_build_array(jsonb_build_object('pricing_id', p.id)))
      group by h.id, i.meter_value_calculation_id
      having count(*) = 1
    )
    select t.schedule_id, prices.calculation_id, t.id, t.persist_usage::text,
      (extract(epoch from t.start_at) * 1000)::bigint::text as at_ms
    from told t join prices on prices.schedule_id = t.schedule_id and prices.config_id = t.config_id
    order by t.schedule_id, prices.calculation_id, t.start_at`)
  const states = new Map<string, PersistedUsage[]>()
  for (const { schedule_id, calculation_id, id, at_ms, persist_usage } of rows) {
    const key = persistedKey(schedule_id, calculation_id)
    const state = { id, at: instantOf(Number(at_ms)), usage: decimal(persist_usage) }
    states.set(key, [...(states.get(key) ?? []), state])
  }
  return states
}
