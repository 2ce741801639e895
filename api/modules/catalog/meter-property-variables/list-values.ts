// The values of a variable, page by page, and whole for those who bill by them.
import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { type Id, idsOf } from '../../../../shared/ids.ts'
import { readSlice } from '../../../list/keyset.ts'
import type { Slice, Sliced } from '../../../list/slice.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { meterPropertyVariableValues as stored } from './table.ts'
import { meterPropertyVariableResource } from './variable.ts'

export type VariableValue = { readonly value: string; readonly added_at: string }

/** One part of the values, oldest first; a value is its own cursor. Throws RESOURCE_NOT_FOUND, or INVALID_FIELD for a cursor that is none. */
export async function listValues(
  uow: ReadUow,
  id: Id<'mepv'>,
  slice: Slice,
): Promise<Sliced<VariableValue & { readonly id: string }>> {
  await getOne(uow, meterPropertyVariableResource, id)
  const where = and(inThisTenant(uow, stored), eq(stored.meter_property_variable_id, id), isNull(stored.removed_at))
  const one = (value: string) => and(where, eq(stored.value, value))
  return await readSlice({
    slice,
    order: { column: stored.added_at, id: stored.value, descending: false },
    anchor: (column, value) => sql`(select ${column} from ${stored} where ${one(value)})`,
    hasAnchor: async value => (await uow.tx.$count(stored, one(value))) > 0,
    rows: ({ condition, orderBy, limit, offset }) =>
      uow.tx
        .select({ id: stored.value, value: stored.value, added_at: stored.added_at })
        .from(stored)
        .where(and(where, condition))
        .orderBy(...orderBy)
        .limit(limit)
        .offset(offset),
    count: most =>
      uow.tx.$count(uow.tx.select({ id: stored.value }).from(stored).where(where).limit(most).as('counted')),
  })
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
        anyOf(stored.meter_property_variable_id, idsOf('mepv', values.keys())),
        isNull(stored.removed_at),
      ),
    )
    .orderBy(asc(stored.meter_property_variable_id), asc(stored.value))
  for (const { id, value } of rows) values.get(id)?.push(value)
  return values
}
