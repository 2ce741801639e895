// The time zones of the issued invoices of subscriptions, where the zone of their parties was another then.
import { sql } from 'drizzle-orm'
import { groupBy } from '../../../../../shared/group-by.ts'
import { storedTimeText } from '../../../../resource/columns.ts'
import type { IssuedZone, IssuedZones } from '../../../subscriptions/billing-time/issued-zones.ts'

type Row = { readonly id: string; readonly timezone: string; readonly cutoff_at: string }

export const loadIssuedZones: IssuedZones = async (uow, all) => {
  const { platformId, environment } = uow.tenant
  const zones = new Map(all)
  const issued = sql`platform_id = ${platformId} and environment = ${environment}
    and holds_period and cutoff_at is not null and status not in ('OPEN', 'DRAFT')`
  const { rows } = await uow.tx.execute<Row>(sql`
    with moved as (
      select distinct pricing_plan_subscription_id as id from invoices
      join unnest(${sql.param([...zones.keys()])}::text[], ${sql.param([...zones.values()])}::text[]) as now (id, zone)
        on now.id = pricing_plan_subscription_id
      where ${issued} and timezone <> now.zone
    )
    select pricing_plan_subscription_id as id, timezone, cutoff_at::text as cutoff_at from invoices
    where ${issued} and pricing_plan_subscription_id in (select id from moved)
    order by cutoff_at, invoices.id`)
  return new Map([...groupBy(rows, ({ id }) => id)].map(([id, own]) => [id, leftZones(own, zones.get(id) ?? '')]))
}

/** The last invoice in each zone, without those that are in the zone of now since the last move. */
function leftZones(rows: readonly Row[], now: string): IssuedZone[] {
  const last = rows.filter(({ timezone }, place) => rows[place + 1]?.timezone !== timezone)
  const left = last.at(-1)?.timezone === now ? last.slice(0, -1) : last
  return left.map(({ timezone, cutoff_at }) => ({ timezone, cutoff_at: storedTimeText(cutoff_at) }))
}
