// `align_product_item_status`: the items of a product follow it (semantics 2), each by its own rules and with its own event.
import { and, asc, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import { changeStatus, deleteResource } from '../../../resource/commands.ts'
import type { Resource, Row } from '../../../resource/define-resource.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { productItems } from './table.ts'

/**
 * Moves every item to the status the product has now, or deletes them before it is deleted. ARCHIVED is final, so items that
 * are ARCHIVED stay so; a DRAFT item was never on sale, so it stays DRAFT when the product is deprecated or archived. Throws
 * INVALID_OPERATION naming the first other item that cannot follow; then nothing changes.
 */
export async function alignItems(uow: Uow, items: Resource, product: Row, action: 'change' | 'delete'): Promise<void> {
  const { id, status } = product as { id: string; status: string }
  const rows = await uow.tx
    .select({ id: productItems.id, status: productItems.status })
    .from(productItems)
    .where(and(inThisTenant(uow, productItems), eq(productItems.product_id, idOf('prod', id))))
    .orderBy(asc(productItems.id))
  for (const row of rows) {
    if (action === 'delete') await deleteResource(uow, items, row.id)
    else if (row.status !== status && row.status !== 'ARCHIVED' && !(row.status === 'DRAFT' && status !== 'ACTIVE'))
      await follow(uow, items, row, status)
  }
}

async function follow(uow: Uow, items: Resource, row: { id: string; status: string }, status: string): Promise<void> {
  if (!items.statuses?.[status]?.includes(row.status)) {
    const message = `The item ${row.id} is ${row.status} and cannot become ${status} with its product; change it first.`
    throw new AppError('INVALID_OPERATION', message, { resourceId: row.id, resourceType: items.objectType })
  }
  await changeStatus(uow, items, row.id, status)
}
