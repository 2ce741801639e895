// Which schedules have been billed before they started: what is charged ahead is on the invoice before.
import { sql } from 'drizzle-orm'
import type { BilledInAdvance } from '../../subscriptions/succession/move-to-version.ts'

/** The schedules that have a line on a FINAL invoice. Those are no longer changed. */
export const billedInAdvance: BilledInAdvance = async (uow, scheduleIds) => {
  if (scheduleIds.length === 0) return new Set()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string }>(sql`
    select distinct l.pricing_plan_schedule_id as id from pricing_plan_schedules s
    join invoice_lines l on l.platform_id = s.platform_id and l.environment = s.environment
      and l.pricing_plan_subscription_id = s.pricing_plan_subscription_id and l.pricing_plan_schedule_id = s.id
    join invoices i on i.platform_id = l.platform_id and i.environment = l.environment and i.id = l.invoice_id
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.id in ${scheduleIds} and i.status = 'FINAL'`)
  return new Set(rows.map(({ id }) => id))
}
