// Which credit types product items sell.
import { and, eq } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { productItems } from '../products/table.ts'

/** By product item of the model CREDITS: the credit type that it sells. Other items are absent. */
export async function creditTypesSold(uow: ReadUow, itemIds: readonly string[]): Promise<Map<string, string>> {
  if (itemIds.length === 0) return new Map()
  const rows = await uow.tx
    .select({ id: productItems.id, credits: productItems.credits })
    .from(productItems)
    .where(
      and(
        inThisTenant(uow, productItems),
        anyOf(productItems.id, idsOf('proi', new Set(itemIds))),
        eq(productItems.model_type, 'CREDITS'),
      ),
    )
  return new Map(rows.flatMap(({ id, credits }) => (credits ? [[id, credits.credit_type_id] as const] : [])))
}
