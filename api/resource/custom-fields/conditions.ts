// Lists and searches by custom fields, as conditions of a query.
import { and, eq, inArray, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { ReadUow } from '../../../shared/database/database.ts'
import { anyOf } from '../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../shared/errors.ts'
import { inThisTenant } from '../tenant-condition.ts'
import { canonicalValue } from './canonical-value.ts'
import type { ResourceWithCustomFields } from './schema.ts'
import { type CustomField, customFields as f, customFieldValues as v } from './table.ts'

/** What is listed: the column of its ids, and the type under which its fields are defined. */
export type Listed = { readonly id: PgColumn; readonly resourceType: ResourceWithCustomFields }

/** `custom_field=reference:value`: those that have the value. Throws INVALID_FIELD for a field or a value that there cannot be. */
export async function hasFieldValue(uow: ReadUow, listed: Listed, text: string): Promise<SQL> {
  // A value may have colons. A reference that a client chooses has none; those of the service do, so the longest that is one counts.
  const names = [...text.matchAll(/:/g)].map(({ index }) => text.slice(0, index))
  const known = await fieldsNamed(uow, listed, names)
  const field = known.toSorted((a, b) => b.reference.length - a.reference.length)[0]
  if (!field) {
    const message = `${JSON.stringify(text)} is not reference:value of a custom field for ${listed.resourceType}.`
    throw new AppError('INVALID_FIELD', message, { field: 'custom_field' })
  }
  return having(uow, listed, { field, values: [text.slice(field.reference.length + 1)], place: 'custom_field' })
}

/** An entry of `filter_fields` by a custom field: those that have one of the values. Throws INVALID_FIELD with its place. */
export async function hasOneOf(
  uow: ReadUow,
  listed: Listed,
  of: { readonly reference: string | undefined; readonly values: readonly string[]; readonly place: string },
): Promise<SQL> {
  const [field] = of.reference === undefined ? [] : await fieldsNamed(uow, listed, [of.reference])
  if (field) return having(uow, listed, { field, values: of.values, place: `${of.place}.value` })
  const message = `Name a custom field for ${listed.resourceType} by its reference.`
  throw new AppError('INVALID_FIELD', message, { field: `${of.place}.reference` })
}

async function fieldsNamed(uow: ReadUow, { resourceType }: Listed, names: readonly string[]): Promise<CustomField[]> {
  if (names.length === 0) return []
  return await uow.tx
    .select()
    .from(f)
    .where(and(inThisTenant(uow, f), eq(f.resource_type, resourceType), anyOf(f.reference, [...names])))
}

function having(
  uow: ReadUow,
  { id }: Listed,
  { field, values, place }: { readonly field: CustomField; readonly values: readonly string[]; readonly place: string },
): SQL {
  const canonical = values.map(text => {
    const reading = canonicalValue(field, text)
    if (reading.kind === 'value') return reading.value
    throw new AppError('INVALID_FIELD', reading.message, { field: place })
  })
  const holders = uow.tx
    .select({ id: v.resource_id })
    .from(v)
    .where(and(inThisTenant(uow, v), eq(v.custom_field_id, field.id), inArray(v.value, canonical)))
  return inArray(id, holders)
}
