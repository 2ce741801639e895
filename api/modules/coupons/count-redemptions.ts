// How often coupons and promotion codes were redeemed.
import { and, count } from 'drizzle-orm'
import type { ReadUow } from '../../../shared/database/database.ts'
import { anyOf } from '../../../shared/database/statements/any-of.ts'
import { idsOf } from '../../../shared/ids.ts'
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
    .where(and(inThisTenant(uow, couponRedemptions), anyOf(column, idsOf('coup', ids))))
    .groupBy(column)
  return new Map(rows.map(row => [row.id, row.number]))
}

/**
 * The computed members of coupons and of promotion codes. `limited_to` is a copy, since what is expanded is filled into what is shown,
 * and never into the row.
 */
export const redemptionsOf =
  (by: 'coupon_id' | 'promotion_code_id') =>
  async <L extends object>(uow: ReadUow, rows: readonly { readonly id: string; readonly limited_to: L | null }[]) => {
    const counted = await countRedemptions(
      uow,
      by,
      rows.map(({ id }) => id),
    )
    return rows.map(({ id, limited_to }) => ({
      number_of_redemptions: counted.get(id) ?? 0,
      limited_to: limited_to && { ...limited_to },
    }))
  }

/** A number of redemptions in words: once, 2 times. */
export const timesOf = (count: number): string => (count === 1 ? 'once' : `${count} times`)
