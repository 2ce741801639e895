// The seat assignments that decide what is charged.
import { and, asc, gt, isNull, or } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { groupBy } from '../../../../../shared/group-by.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { allConfigs } from '../../../catalog/pricing-plans/variants/variants.ts'
import { overridden } from '../../../subscriptions/overrides/merge-overrides.ts'
import { followsAssignments, grantsPerSeat } from '../../../subscriptions/seats/seat-count.ts'
import { seatAssignments } from '../../../subscriptions/seats/table.ts'
import type { ConfigInput, ScheduleInput, SeatInput } from '../billing-inputs.ts'
import type { CatalogInputs } from './load-catalog.ts'

type Selling = {
  readonly subscription: { readonly id: string }
  readonly catalog: CatalogInputs
  readonly schedules: readonly Pick<ScheduleInput, 'override_pricings'>[]
}

/**
 * By subscription, in order of time; a subscription without charged assignments is absent. Reads nothing when there are
 * no such prices.
 */
export async function loadSeats(uow: ReadUow, all: readonly Selling[]): Promise<ReadonlyMap<string, SeatInput[]>> {
  const itemIds = new Map(all.map(selling => [selling.subscription.id, itemsWith(selling, followsAssignments)]))
  const granting = new Map(all.map(selling => [selling.subscription.id, itemsWith(selling, grantsPerSeat)]))
  const ids = [...itemIds].flatMap(([id, counted]) => (counted.size > 0 ? [id] : []))
  if (ids.length === 0) return new Map()
  const a = seatAssignments
  const rows = await uow.tx
    .select({
      id: a.id,
      customer_id: a.customer_id,
      subscription_id: a.pricing_plan_subscription_id,
      product_item_id: a.product_item_id,
      start_at: a.start_at,
      end_at: a.end_at,
    })
    .from(a)
    .where(
      and(
        inThisTenant(uow, a),
        anyOf(a.pricing_plan_subscription_id, idsOf('ppsu', ids)),
        // One that was taken back is at no time.
        or(isNull(a.end_at), gt(a.end_at, a.start_at)),
      ),
    )
    .orderBy(asc(a.start_at), asc(a.id))
  const counted = rows.filter(row => itemIds.get(row.subscription_id)?.has(row.product_item_id))
  return new Map(
    [...groupBy(counted, row => row.subscription_id)].map(([id, own]) => [
      id,
      own.map(({ subscription_id: _, id: seatId, customer_id, ...seat }) =>
        // Who occupies a seat matters only where the seat itself is granted something.
        granting.get(id)?.has(seat.product_item_id) ? { ...seat, id: seatId, customer_id } : seat,
      ),
    ]),
  )
}

/** The PER_SEAT items that have such a price, of the plan or by an override. */
function itemsWith(
  { catalog: { pricings, product_items }, schedules }: Selling,
  isSuch: (config: ConfigInput) => boolean,
): ReadonlySet<string> {
  const bySeat = new Set(product_items.flatMap(item => (item.model_type === 'PER_SEAT' ? [item.id] : [])))
  if (bySeat.size === 0) return bySeat
  const overriding = schedules.flatMap(schedule =>
    schedule.override_pricings ? pricings.map(pricing => overridden(pricing, schedule.override_pricings)) : [],
  )
  const priced = [...pricings, ...overriding]
    .flatMap(pricing => pricing.items)
    .filter(item => allConfigs(item).some(isSuch))
  return new Set(priced.flatMap(item => item.product_item_ids).filter(id => bySeat.has(id)))
}
