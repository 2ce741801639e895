// What closed invoices charged ahead to subscriptions that ended, with a refund, exactly where one of those invoices ends.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { formatInstant } from '../../../../../shared/time.ts'
import { storedTimeText } from '../../../../resource/columns.ts'
import type { BillingInputs, PlanInput, ScheduleInput, SubscriptionInput } from '../billing-inputs.ts'
import { endWithRefund } from '../ends-with-refund.ts'
import { isRefunded, statusOf } from './refunded-charge.ts'

type Ended = {
  readonly subscription: SubscriptionInput
  readonly schedules: readonly ScheduleInput[]
  readonly catalog: { readonly plans: readonly PlanInput[] }
}

/**
 * By subscription, the time after its end that closed invoices charged ahead, where it ends with a refund that no invoice has given yet. A
 * subscription is absent where no such schedule ends exactly at the end of a closed invoice. A charge that discounts took whole was not
 * paid, so it counts for nothing. One query, and none where nothing ended with a refund. It reads one subscription at a time (`limit`,
 * `offset 0`), whatever the tables held when the plan of the statement was made.
 */
export async function loadChargedAfterEnd(
  uow: ReadUow,
  all: readonly Ended[],
): Promise<Map<string, NonNullable<BillingInputs['charged_after_end']>>> {
  const ended = all.flatMap(one => {
    const found = endWithRefund(one)
    if (found === null) return []
    return found.scheduleIds.map(schedule => ({
      id: one.subscription.id,
      schedule_id: schedule,
      ended_at: formatInstant(found.end),
      with_tax: isWithTax(one, schedule),
    }))
  })
  if (ended.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string; start_at: string; end_at: string }>(sql`
    select e.id, e.ended_at::text as start_at, max(l.service_end)::text as end_at
    from jsonb_to_recordset(${JSON.stringify(ended)}::jsonb) as e (id text, schedule_id text, ended_at timestamptz, with_tax boolean)
    cross join lateral (
      select from invoices c
      where c.platform_id = ${platformId} and c.environment = ${environment} and c.pricing_plan_subscription_id = e.id
        and c.holds_period and c.cutoff_at = e.ended_at and c.status not in ('OPEN', 'DRAFT') limit 1) closed
    cross join lateral (
      select * from invoice_lines
      where platform_id = ${platformId} and environment = ${environment} and pricing_plan_subscription_id = e.id
        and pricing_plan_schedule_id = e.schedule_id and source @> '{"in_advance": true}' and not source @> '{"one_off": true}'
        and service_end > e.ended_at and case when e.with_tax then amount_including_tax else amount_excluding_tax end
          <> coalesce((source ->> 'deducted')::numeric, 0) offset 0) l
    where ${statusOf('l')} = 'FINAL' and not ${isRefunded}
    group by e.id, e.ended_at`)
  return new Map(
    rows.map(row => [row.id, { start_at: storedTimeText(row.start_at), end_at: storedTimeText(row.end_at) }]),
  )
}

/** Whether what discounts took off the charges of a schedule includes tax, as the prices of its plan do. */
function isWithTax({ schedules, catalog }: Ended, scheduleId: string): boolean {
  const schedule = schedules.find(({ id }) => id === scheduleId)
  return catalog.plans.some(
    ({ id, amount_type }) => id === schedule?.pricing_plan_id && amount_type === 'INCLUDING_TAX',
  )
}
