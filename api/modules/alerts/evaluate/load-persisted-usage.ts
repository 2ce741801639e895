// The recorded states of what rules target (docs/decisions/0015), for many subscriptions at once.
import { sql } from 'drizzle-orm'
import type { PeriodLength } from '../../../../shared/billing/periods.ts'
import type { PersistedUsage } from '../../../../shared/billing/persisted-usage.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { decimal } from '../../../../shared/decimal.ts'
import { instantOf } from '../../../../shared/time.ts'
import { isOptionalIn } from '../../catalog/pricing-plans/checks/optional.ts'
import { variantFor, type WithVariants } from '../../catalog/pricing-plans/variants/variants.ts'

/** By schedule and calculation (`persistedKey`), in the order of time. */
export type PersistedUsageByPrice = ReadonlyMap<string, readonly PersistedUsage[]>

export const persistedKey = (scheduleId: string, calculationId: string): string => `${scheduleId} ${calculationId}`

type StateRow = { schedule_id: string; config_id: string; id: string; at_ms: string; persist_usage: string }
type ItemRow = {
  schedule_id: string
  calculation_id: string
  pricing_currency: string
  billing_period: PeriodLength
  item: WithVariants<{ readonly id: string }>
}

/**
 * A state is recorded for one price. It is the state of what the price counts by where no other price of the schedule does; where
 * several share a calculation, by conditions, none of them has the whole, and what is used comes from the events.
 */
export async function loadPersisted(uow: ReadUow, subscriptionIds: readonly string[]): Promise<PersistedUsageByPrice> {
  if (subscriptionIds.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows: states } = await uow.tx.execute<StateRow>(sql`
    select distinct on (pricing_plan_schedule_id, pricing_item_config_id, start_at)
      pricing_plan_schedule_id as schedule_id, pricing_item_config_id as config_id, id, persist_usage::text,
      (extract(epoch from start_at) * 1000)::bigint::text as at_ms
    from persist_data
    where platform_id = ${platformId} and environment = ${environment}
      and pricing_plan_subscription_id = any(${sql.param([...subscriptionIds])})
    order by pricing_plan_schedule_id, pricing_item_config_id, start_at, seq desc`)
  if (states.length === 0) return new Map()
  const { rows: items } = await uow.tx.execute<ItemRow>(sql`
    select h.id as schedule_id, i.meter_value_calculation_id as calculation_id, item, h.pricing_currency,
      coalesce(h.billing_period, s.billing_period) as billing_period
    from pricing_plan_schedules h
    join pricing_plan_subscriptions s on s.platform_id = h.platform_id and s.environment = h.environment
      and s.id = h.pricing_plan_subscription_id
    join schedule_versions v on v.platform_id = h.platform_id and v.environment = h.environment
      and v.pricing_plan_schedule_id = h.id
    join pricings p on p.platform_id = h.platform_id and p.environment = h.environment
      and p.pricing_plan_version_id = v.pricing_plan_version_id
    cross join jsonb_array_elements(p.items) as item
    join product_items i on i.platform_id = p.platform_id and i.environment = p.environment
      and item -> 'product_item_ids' ? i.id
    where h.platform_id = ${platformId} and h.environment = ${environment}
      and h.id = any(${sql.param([...new Set(states.map(state => state.schedule_id))])})
      and i.meter_value_calculation_id is not null
      -- An ADDON, or a pricing in a group, that the schedule never enables is no price of it.
      and (not ${isOptionalIn('p')}
        or h.enabled_pricings @> jsonb_build_array(jsonb_build_object('pricing_id', p.id)))`)
  const configs = new Map<string, string[]>()
  for (const {
    schedule_id,
    calculation_id,
    item,
    pricing_currency: currency,
    billing_period: billingPeriod,
  } of items) {
    const key = persistedKey(schedule_id, calculation_id)
    const sold = variantFor(item, { currency, billingPeriod })?.configs ?? []
    configs.set(key, [...(configs.get(key) ?? []), ...sold.map(({ id }) => id)])
  }
  return new Map(
    [...configs].flatMap(([key, [only, ...others]]) => {
      const [scheduleId] = key.split(' ')
      const own = states.filter(state => state.schedule_id === scheduleId && state.config_id === only)
      return others.length > 0 || own.length === 0 ? [] : [[key, own.map(stateOf)] as const]
    }),
  )
}

const stateOf = ({ id, at_ms, persist_usage }: StateRow): PersistedUsage => ({
  id,
  at: instantOf(Number(at_ms)),
  usage: decimal(persist_usage),
})
