// How often coupons and promotion codes were redeemed.
import { and, count, inArray } from 'drizzle-orm'
import type { ReadUow } from '../../../shared/database/database.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { couponRedemptions } from './table.ts'

/** The number of redemptions by id; one that was never redeemed is not there. */
export async function countRedemptions(
  uow: ReadUow,
  by: 'coupon_id' | 'promotion_code_id',
  ids: readonly string[],
): Promise<ReadonlyMap<string | null, number>> {
  if (ids.length === 0) return new Map()
  const column = couponRedemptions[by]
  const rows = await uow.tx
    .select({ id: column, number: count() })
    .from(couponRedemptions)
    .where(and(inThisTenant(uow, couponRedemptions), inArray(column, [...ids])))
    .groupBy(column)
  return new Map(rows.map(row => [row.id, row.number]))
}
