// What closed invoices charged ahead to subscriptions that ended, with a refund, exactly where one of those invoices ends.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { at, formatInstant, type Instant } from '../../../../../shared/time.ts'
import { storedTimeText } from '../../../../resource/columns.ts'
import type { BillingInputs, ScheduleInput, SubscriptionInput } from '../billing-inputs.ts'
import { isRefunded } from './refunded-charge.ts'

type Ended = { readonly subscription: SubscriptionInput; readonly schedules: readonly ScheduleInput[] }

/**
 * By subscription, the time after its end that closed invoices charged and none refunded. A subscription is absent that did not end with a
 * refund, or not exactly where a closed invoice ends. One query, and none where nothing ended with a refund.
 */
export async function loadChargedAfterEnd(
  uow: ReadUow,
  all: readonly Ended[],
): Promise<Map<string, NonNullable<BillingInputs['charged_after_end']>>> {
  const ended = all.flatMap(one => {
    const end = endWithRefund(one)
    return end === null ? [] : [[one.subscription.id, formatInstant(end)] as const]
  })
  if (ended.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string; start_at: string; end_at: string }>(sql`
    select e.id, e.ended_at::text as start_at, max(l.service_end)::text as end_at
    from unnest(${sql.param(ended.map(([id]) => id))}::text[], ${sql.param(ended.map(([, end]) => end))}::timestamptz[]) as e (id, ended_at)
    join invoice_lines l on l.platform_id = ${platformId} and l.environment = ${environment} and l.pricing_plan_subscription_id = e.id
    join invoices v on v.platform_id = l.platform_id and v.environment = l.environment and v.id = l.invoice_id and v.status = 'FINAL'
    where l.source @> '{"in_advance": true}' and not l.source @> '{"one_off": true}' and l.service_end > e.ended_at
      and l.amount_excluding_tax <> 0
      and exists (
        select from invoices c
        where c.platform_id = l.platform_id and c.environment = l.environment and c.pricing_plan_subscription_id = e.id
          and c.holds_period and c.cutoff_at = e.ended_at and c.status not in ('OPEN', 'DRAFT'))
      and not ${isRefunded}
    group by e.id, e.ended_at`)
  return new Map(
    rows.map(row => [row.id, { start_at: storedTimeText(row.start_at), end_at: storedTimeText(row.end_at) }]),
  )
}

/** When the subscription ended, if that refunds what was charged ahead. */
function endWithRefund({ subscription, schedules }: Ended): Instant | null {
  const last = schedules.at(-1)
  if (!last) return null
  const { end_at, refund_advance_charges } = last
  const ends = subscription.inactive_periods
    .filter(({ type }) => type !== 'PAUSE')
    .map(period => ({ time: at(period.start_at), refunds: period.refund_advance_charges === true }))
  if (end_at !== null) ends.push({ time: at(end_at), refunds: refund_advance_charges === true })
  const [first] = ends.sort((one, other) => one.time - other.time)
  return first?.refunds ? first.time : null
}
