// What names a custom field by its reference, such as the prefix of invoice numbers: while it does, the field keeps its reference and
// is not deleted (contract: Tax and invoices).
import { and, eq, inArray } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../shared/database/database.ts'
import { anyOf } from '../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../shared/errors.ts'
import { inThisTenant } from '../tenant-condition.ts'
import type { ResourceWithCustomFields } from './schema.ts'
import { type CustomField, customFields as f, customFieldUses as u, customFieldValues as v } from './table.ts'

/** A field as something names it. */
export type NamedField = { readonly resourceType: ResourceWithCustomFields; readonly reference: string }

/** The fields of these names, held against change until commit. Throws INVALID_FIELD with `field` for one that is not there. */
export async function requireFields(uow: Uow, names: readonly NamedField[], field: string): Promise<CustomField[]> {
  if (names.length === 0) return []
  const references = [...new Set(names.map(({ reference }) => reference))]
  const rows = await uow.tx
    .select()
    .from(f)
    .where(and(inThisTenant(uow, f), inArray(f.reference, references)))
    .for('key share')
  return names.map(({ resourceType, reference }) => {
    const found = rows.find(row => row.resource_type === resourceType && row.reference === reference)
    if (found) return found
    const message = `There is no custom field ${JSON.stringify(reference)} for ${resourceType}; create it first.`
    throw new AppError('INVALID_FIELD', message, { field })
  })
}

/** Records which fields `user` names, in place of those it named before. */
export async function saveUses(
  uow: Uow,
  user: { readonly resourceType: string; readonly resourceId: string },
  fields: readonly CustomField[],
): Promise<void> {
  await uow.tx
    .delete(u)
    .where(and(inThisTenant(uow, u), eq(u.resource_type, user.resourceType), eq(u.resource_id, user.resourceId)))
  const ids = [...new Set(fields.map(({ id }) => id))]
  if (ids.length === 0) return
  await uow.tx.insert(u).values(
    ids.map(id => ({
      platform_id: uow.tenant.platformId,
      environment: uow.tenant.environment,
      custom_field_id: id,
      resource_type: user.resourceType,
      resource_id: user.resourceId,
    })),
  )
}

/** The value that a resource has of each named field, in their order; null where it has none. */
export async function valuesNamed(
  uow: ReadUow,
  names: readonly (NamedField & { readonly resourceId: string })[],
): Promise<(string | null)[]> {
  if (names.length === 0) return []
  const rows = await uow.tx
    .select({ resourceId: v.resource_id, resourceType: f.resource_type, reference: f.reference, value: v.value })
    .from(v)
    .innerJoin(f, and(inThisTenant(uow, f), eq(f.id, v.custom_field_id)))
    .where(
      and(
        inThisTenant(uow, v),
        anyOf(v.resource_id, [...new Set(names.map(({ resourceId }) => resourceId))]),
        anyOf(f.reference, [...new Set(names.map(({ reference }) => reference))]),
        eq(v.position, 0),
      ),
    )
  return names.map(
    name =>
      rows.find(
        row =>
          row.resourceId === name.resourceId &&
          row.resourceType === name.resourceType &&
          row.reference === name.reference,
      )?.value ?? null,
  )
}
