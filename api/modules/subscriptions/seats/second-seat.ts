// A customer has one seat of an item of a subscription at a time. The database holds that too; this says which one is in the way.
import { and, eq, gt, isNull, lt, ne, or } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { seatStatus } from './seat-status.ts'
import { type SeatAssignment, seatAssignments as table } from './table.ts'

/** Throws COULD_NOT_UPDATE_RESOURCE with the id and status of another assignment of the same customer at the same time. */
export async function refuseSecond(uow: Uow, row: SeatAssignment): Promise<void> {
  if (row.end_at === row.start_at) return
  const [other] = await uow.tx
    .select()
    .from(table)
    .where(
      and(
        inThisTenant(uow, table),
        eq(table.pricing_plan_subscription_id, row.pricing_plan_subscription_id),
        eq(table.product_item_id, row.product_item_id),
        eq(table.customer_id, row.customer_id),
        row.id ? ne(table.id, row.id) : undefined,
        or(isNull(table.end_at), gt(table.end_at, row.start_at)),
        row.end_at === null ? undefined : lt(table.start_at, row.end_at),
        // One that was taken back is at no time.
        or(isNull(table.end_at), gt(table.end_at, table.start_at)),
      ),
    )
    .orderBy(table.start_at)
    .limit(1)
  if (!other) return
  const until = other.end_at === null ? 'without an end' : `until ${other.end_at}`
  const message = `The customer has this seat already, from ${other.start_at} ${until}: the assignment ${other.id} is ${seatStatus(other, formatInstant(uow.now))}; choose another time, or end that one.`
  throw new AppError('COULD_NOT_UPDATE_RESOURCE', message, {
    // Where it begins within the other one its start is in the way, and otherwise its end.
    field: other.start_at <= row.start_at ? 'start_at' : 'end_at',
    resourceId: other.id,
    resourceType: 'SEAT_ASSIGNMENT',
  })
}
