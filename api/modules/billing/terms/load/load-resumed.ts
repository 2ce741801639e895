// When the billing of a subscription resumed after it had ended.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { at } from '../../../../../shared/time.ts'
import { storedTimeText } from '../../../../resource/columns.ts'
import type { ScheduleInput } from '../billing-inputs.ts'

type Scheduled = readonly [subscriptionId: string, schedules: readonly ScheduleInput[]]

/**
 * By subscription, the times, in order, at which a schedule starts and a closed invoice ends. A time inside a billing period means that
 * the schedule was activated after that invoice was issued. A subscription without such times is absent.
 */
export async function loadResumed(uow: ReadUow, all: readonly Scheduled[]): Promise<Map<string, string[]>> {
  const several = new Map(all.filter(([, schedules]) => schedules.length > 1))
  if (several.size === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string; ends: string[] }>(sql`
    select pricing_plan_subscription_id as id, array_agg(distinct period_end::text) as ends
    from invoices
    where platform_id = ${platformId} and environment = ${environment}
      and pricing_plan_subscription_id = any(${sql.param([...several.keys()])}::text[])
      and holds_period and not advance_only and status not in ('OPEN', 'DRAFT')
    group by pricing_plan_subscription_id`)
  const found = rows.map(({ id, ends }): [string, string[]] => {
    const starts = new Set(several.get(id)?.map(({ start_at }) => at(start_at)))
    return [
      id,
      ends
        .map(storedTimeText)
        .filter(end => starts.has(at(end)))
        .sort(),
    ]
  })
  return new Map(found.filter(([, ends]) => ends.length > 0))
}
