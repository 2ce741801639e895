// Products that belong to others: no product is above itself.
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { requireOpenTo } from './private-entries.ts'
import { type Product, products } from './table.ts'

const FIELD = 'parent_product_id'
/** Products above one another. */
const GENERATIONS_MAX = 10

/** Throws INVALID_FIELD when the parent is the product itself, is below it, is for another customer, or stands too low. */
export async function checkParent(uow: Uow, row: Product, previous: Product | null): Promise<void> {
  if (row.parent_product_id === null || row.parent_product_id === previous?.parent_product_id) return
  let above: string | null = row.parent_product_id
  for (let generation = 0; above !== null; generation += 1) {
    if (above === row.id) refuse('The product would belong to itself; choose a parent that does not belong to it.')
    if (generation === GENERATIONS_MAX)
      refuse(`Products can be nested ${GENERATIONS_MAX} levels deep at most; choose a parent that is higher up.`)
    // Held, so that two products are not put above each other at once.
    const [parent] = await uow.tx
      .select({ id: products.id, parent: products.parent_product_id, customer_id: products.customer_id })
      .from(products)
      .where(and(inThisTenant(uow, products), eq(products.id, idOf('prod', above))))
      .for('no key update')
    if (parent && generation === 0) requireOpenTo(row.customer_id, parent, { noun: 'product', field: FIELD })
    above = parent?.parent ?? null
  }
}

function refuse(message: string): never {
  throw new AppError('INVALID_FIELD', message, { field: FIELD })
}
