// A FINAL invoice never changes, so a schedule that one has charged ahead stays, and so does its start.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { scheduleResource } from '../../subscriptions/schedules/schedule.ts'
import type { Schedule } from '../../subscriptions/table.ts'
import { IS_ISSUED } from '../late/closed-usage.ts'

/** Throws COULD_NOT_DELETE_RESOURCE when a FINAL invoice has charged the schedule. The caller holds the lock of its subscription. */
export async function refuseDeletingBilled(uow: Uow, { id }: { readonly id: string }): Promise<void> {
  const billed = await invoiceWith(uow, id)
  if (billed === null) return
  const message = `The invoice ${billed} is FINAL and has charged the schedule ahead; have another schedule follow it instead.`
  throw new AppError('COULD_NOT_DELETE_RESOURCE', message, {
    field: 'status',
    resourceId: id,
    resourceType: scheduleResource.objectType,
  })
}

/** Throws INVALID_FIELD when the start of an ACTIVE schedule moves that a FINAL invoice has charged. The caller holds the same lock. */
export async function refuseMovingBilled(uow: Uow, row: Schedule, previous: Schedule | null): Promise<void> {
  if (previous?.status !== 'ACTIVE' || row.start_at === previous.start_at) return
  const billed = await invoiceWith(uow, row.id)
  if (billed === null) return
  const message = `The invoice ${billed} is FINAL and has charged the schedule ${row.id} ahead from ${previous.start_at} on, so its start stays.`
  throw new AppError('INVALID_FIELD', message, {
    field: 'start_at',
    resourceId: row.id,
    resourceType: scheduleResource.objectType,
  })
}

/** The number of a FINAL invoice with a charge of the schedule; null without one. */
async function invoiceWith(uow: Uow, id: string): Promise<string | null> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ number: string }>(sql`
    select coalesce(v.invoice_number, v.id) as number
    from invoice_lines l
    join invoices v on v.platform_id = l.platform_id and v.environment = l.environment and v.id = l.invoice_id
    where l.platform_id = ${platformId} and l.environment = ${environment} and l.pricing_plan_schedule_id = ${id}
      and ${IS_ISSUED}
    limit 1`)
  return rows[0]?.number ?? null
}
