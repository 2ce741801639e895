// Copied custom fields on an invoice: those of its parties, its subscription and what it sells that have
// `copy_value_to_invoice`.
import { and, asc, eq, sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import type { ResourceWithCustomFields } from '../../../resource/custom-fields/schema.ts'
import { customFields as f, customFieldValues as v } from '../../../resource/custom-fields/table.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { CopiedFieldView } from '../schema.ts'

/** The objects whose values an invoice may show. */
export type CopiedFrom = { readonly type: ResourceWithCustomFields; readonly ids: readonly string[] }

/** The values to copy to each of many invoices, in the order of its `from` and then by their references. */
export async function loadCopiedFields(
  uow: ReadUow,
  all: readonly (readonly CopiedFrom[])[],
): Promise<CopiedFieldView[][]> {
  const ids = [...new Set(all.flatMap(from => from.flatMap(each => each.ids)))]
  if (ids.length === 0) return all.map(() => [])
  const rows = await uow.tx
    .select({
      resource_id: v.resource_id,
      type: f.resource_type,
      id: f.id,
      reference: f.reference,
      name: f.name,
      multiple: f.multiple_values,
      values: sql<string[]>`array_agg(${v.value} order by ${v.position})`,
    })
    .from(f)
    .innerJoin(v, and(inThisTenant(uow, v), eq(v.custom_field_id, f.id), anyOf(v.resource_id, ids)))
    .where(and(inThisTenant(uow, f), eq(f.copy_value_to_invoice, true)))
    .groupBy(v.resource_id, f.resource_type, f.id, f.reference, f.name, f.multiple_values)
    .orderBy(sql`${f.reference} collate "C"`, asc(v.resource_id))
  if (rows.length === 0) return all.map(() => [])
  return all.map(from =>
    from.flatMap(({ type, ids: own }) =>
      rows
        .filter(row => row.type === type && own.includes(row.resource_id))
        .map(({ resource_id, id, reference, name, multiple, values }) => ({
          resource: { type, id: resource_id },
          id,
          reference,
          ...(name === null ? {} : { name }),
          ...(multiple ? { values } : { value: values[0] ?? '' }),
        })),
    ),
  )
}
