// A subscription that gives way to another may end in the past. What a FINAL invoice has charged for the time after that stays
// charged, and the other one would charge it again.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { UPGRADED_FROM } from '../../subscriptions/ending/upgrade-subscription.ts'
import { listSchedules } from '../../subscriptions/schedules/schedule.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import type { Subscription } from '../../subscriptions/table.ts'
import { IS_ISSUED } from '../late/closed-usage.ts'

/**
 * Throws INVALID_OPERATION when the subscription is about to give way to another at a time after which a FINAL invoice has collected
 * something, or has charged ahead what no later invoice can credit. The caller holds its lock.
 */
export async function refuseEarlyEnd(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  const { cancelled_at: end, upgraded_to_pricing_plan_subscription_id: successor } = row
  if (end === null || successor === null) return
  if (successor === previous?.upgraded_to_pricing_plan_subscription_id && end === previous.cancelled_at) return
  const { platformId, environment } = uow.tenant
  const [first] = await listSchedules(uow, row.id)
  // The invoice that collects the time up to the end takes the credit. Of one that never began there is none.
  const isNever = first !== undefined && end <= first.start_at
  const { rows } = await uow.tx.execute(sql`
    with collecting as (
      select v.period_end from invoices v
      where v.platform_id = ${platformId} and v.environment = ${environment} and v.pricing_plan_subscription_id = ${row.id}
        and ${IS_ISSUED} and not v.advance_only
    )
    select from collecting where period_end > ${end}::timestamptz
    union all
    select from invoice_lines l
    join invoices v on v.platform_id = l.platform_id and v.environment = l.environment and v.id = l.invoice_id
    where l.platform_id = ${platformId} and l.environment = ${environment} and l.pricing_plan_subscription_id = ${row.id}
      and v.status = 'FINAL' and l.service_end > ${end}::timestamptz
      and l.source @> '{"in_advance": true}' and not l.source @> '{"one_off": true}'
      and (${isNever} or exists (select from collecting where period_end = ${end}::timestamptz))
    limit 1`)
  if (rows.length === 0) return
  const message =
    `A FINAL invoice of the subscription ${row.id} has charged time after ${end}, when this one would take its place. ` +
    'Have its first schedule start now or later.'
  throw new AppError('INVALID_OPERATION', message, {
    field: UPGRADED_FROM,
    resourceId: row.id,
    resourceType: subscriptionResource.objectType,
  })
}
