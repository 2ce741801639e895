// A FINAL invoice never changes, so a schedule that one has charged ahead stays.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { scheduleResource } from '../../subscriptions/schedules/schedule.ts'
import { IS_ISSUED } from '../late/closed-usage.ts'

/** Throws COULD_NOT_DELETE_RESOURCE when a FINAL invoice has charged the schedule. The caller holds the lock of its subscription. */
export async function refuseDeletingBilled(uow: Uow, { id }: { readonly id: string }): Promise<void> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ number: string }>(sql`
    select coalesce(v.invoice_number, v.id) as number
    from invoice_lines l
    join invoices v on v.platform_id = l.platform_id and v.environment = l.environment and v.id = l.invoice_id
    where l.platform_id = ${platformId} and l.environment = ${environment} and l.pricing_plan_schedule_id = ${id}
      and ${IS_ISSUED}
    limit 1`)
  const [billed] = rows
  if (!billed) return
  const message = `The invoice ${billed.number} is FINAL and has charged the schedule ahead; have another schedule follow it instead.`
  throw new AppError('COULD_NOT_DELETE_RESOURCE', message, {
    field: 'status',
    resourceId: id,
    resourceType: scheduleResource.objectType,
  })
}
