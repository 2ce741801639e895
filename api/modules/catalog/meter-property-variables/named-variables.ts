// Who names a variable: conditions stand inside the items of pricings and inside product items, without foreign keys.
import { and, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { pricings } from '../pricing-plans/table.ts'
import { productItems } from '../products/table.ts'

const OBJECT_TYPE = 'METER_PROPERTY_VARIABLE'

/** At any depth, since conditions nest. */
const names = (column: PgColumn, id: string): SQL =>
  sql`jsonb_path_exists(${column}, '$.**.meter_property_variable_id ? (@ == $id)', jsonb_build_object('id', ${id}::text))`

/**
 * Throws COULD_NOT_DELETE_RESOURCE naming the pricing or product item whose condition names the variable. The caller holds
 * the variable's row, and whoever saves a condition locks the variables it names, so neither can miss the other.
 */
export async function refuseWhileNamed(uow: Uow, id: string): Promise<void> {
  const [pricing] = await uow.tx
    .select({ id: pricings.id })
    .from(pricings)
    .where(and(inThisTenant(uow, pricings), names(pricings.items, id)))
    .limit(1)
  if (pricing) throw named(id, `the pricing ${pricing.id}`)
  const [item] = await uow.tx
    .select({ id: productItems.id })
    .from(productItems)
    .where(and(inThisTenant(uow, productItems), names(productItems.usage_based, id)))
    .limit(1)
  if (item) throw named(id, `the product item ${item.id}`)
}

const named = (id: string, by: string): AppError =>
  new AppError('COULD_NOT_DELETE_RESOURCE', `A condition of ${by} refers to it; take it out there first.`, {
    resourceId: id,
    resourceType: OBJECT_TYPE,
  })
