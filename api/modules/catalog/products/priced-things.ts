// Products and items that a pricing names stay: the lists of a pricing carry no foreign keys, so a deletion looks here.
import { and, arrayContains, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { pricings } from '../pricing-plans/table.ts'

/**
 * Throws COULD_NOT_DELETE_RESOURCE while a pricing names the product or item. The caller holds its row, and whoever saves
 * a pricing locks what it names, so neither can miss the other.
 */
export async function refuseWhilePriced(uow: Uow, kind: 'PRODUCT' | 'PRODUCT_ITEM', id: string): Promise<void> {
  const names =
    kind === 'PRODUCT'
      ? arrayContains(pricings.product_ids, [id])
      : sql`${pricings.items} @> ${JSON.stringify([{ product_item_ids: [id] }])}::jsonb`
  const [pricing] = await uow.tx
    .select({ id: pricings.id })
    .from(pricings)
    .where(and(inThisTenant(uow, pricings), names))
    .limit(1)
  if (!pricing) return
  throw new AppError('COULD_NOT_DELETE_RESOURCE', `The pricing ${pricing.id} names it; remove it there first.`, {
    resourceId: id,
    resourceType: kind,
  })
}
