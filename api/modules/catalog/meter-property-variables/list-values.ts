// The values of a variable, page by page, and whole for those who bill by them.
import { and, asc, count, eq, inArray, isNull } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Page } from '../../../http/pagination.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { meterPropertyVariableValues as stored } from './table.ts'
import { meterPropertyVariableResource } from './variable.ts'

export type VariableValue = { readonly value: string; readonly added_at: string }

/** One page of the values, oldest first, and how many there are. Throws RESOURCE_NOT_FOUND. */
export async function listValues(
  uow: ReadUow,
  id: string,
  page: Page,
): Promise<{ values: VariableValue[]; total: number }> {
  await getOne(uow, meterPropertyVariableResource, id)
  const where = and(inThisTenant(uow, stored), eq(stored.meter_property_variable_id, id), isNull(stored.removed_at))
  const values = await uow.tx
    .select({ value: stored.value, added_at: stored.added_at })
    .from(stored)
    .where(where)
    .orderBy(asc(stored.added_at), asc(stored.value))
    .limit(page.limit)
    .offset((page.page - 1) * page.limit)
  const [counted] = await uow.tx.select({ total: count() }).from(stored).where(where)
  return { values, total: counted?.total ?? 0 }
}

/** All values of these variables, sorted, by variable. */
export async function valuesOfVariables(uow: ReadUow, ids: readonly string[]): Promise<ReadonlyMap<string, string[]>> {
  const values = new Map(ids.map((id): [string, string[]] => [id, []]))
  if (ids.length === 0) return values
  const rows = await uow.tx
    .select({ id: stored.meter_property_variable_id, value: stored.value })
    .from(stored)
    .where(
      and(
        inThisTenant(uow, stored),
        inArray(stored.meter_property_variable_id, [...values.keys()]),
        isNull(stored.removed_at),
      ),
    )
    .orderBy(asc(stored.meter_property_variable_id), asc(stored.value))
  for (const { id, value } of rows) values.get(id)?.push(value)
  return values
}
