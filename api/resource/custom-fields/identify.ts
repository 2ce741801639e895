// `identifier_field=custom_field`: a PUT finds its resource by the value of a custom field.
import { and, eq, sql } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { inThisTenant } from '../tenant-condition.ts'
import { customFieldNotFound, resolveGiven } from './resolve-given.ts'
import type { GivenCustomField, ResourceWithCustomFields } from './schema.ts'
import { type CustomField, customFields, customFieldValues as v } from './table.ts'

const REFERENCE = 'custom_field_reference'

/**
 * The id of the resource that has the value which `given` has of the field; null when none has. Two PUTs of one value follow each
 * other, so that one creates and the other one updates. Throws INVALID_FIELD unless the field holds each value once, and MISSING_FIELD
 * when `given` has no value of it.
 */
export async function identifiedBy(
  uow: Uow,
  of: {
    readonly resourceType: ResourceWithCustomFields
    readonly reference: string
    readonly given: readonly GivenCustomField[]
  },
): Promise<string | null> {
  const field = await fieldByReference(uow, of)
  if (!field.unique_value) {
    const message = `Several ${of.resourceType} may have one value of ${field.reference}; a PUT goes by a field with unique_value.`
    throw new AppError('INVALID_FIELD', message, { field: REFERENCE })
  }
  const given = await resolveGiven(uow, of.resourceType, of.given)
  const [value, ...others] = given.find(each => each.field.id === field.id)?.values ?? []
  if (value === undefined || others.length > 0) {
    throw new AppError('MISSING_FIELD', `PUT finds the resource by the value of ${field.reference}; give one.`, {
      field: 'custom_fields',
    })
  }
  const { platformId, environment } = uow.tenant
  const key = `custom field ${platformId} ${environment} ${field.id} ${value}`
  await uow.tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`)
  const [owner] = await uow.tx
    .select({ id: v.resource_id })
    .from(v)
    .where(and(inThisTenant(uow, v), eq(v.custom_field_id, field.id), eq(v.value, value)))
  return owner?.id ?? null
}

async function fieldByReference(
  uow: Uow,
  { resourceType, reference }: { readonly resourceType: ResourceWithCustomFields; readonly reference: string },
): Promise<CustomField> {
  const f = customFields
  const [field] = await uow.tx
    .select()
    .from(f)
    .where(and(inThisTenant(uow, f), eq(f.resource_type, resourceType), eq(f.reference, reference)))
    .for('key share')
  if (field) return field
  throw customFieldNotFound(reference, { resourceType, field: REFERENCE })
}
