// What a body says of custom fields: which fields it names, and their values in the form in which they are stored.
import { and, eq, or } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { anyOf } from '../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../shared/errors.ts'
import { idsOf } from '../../../shared/ids.ts'
import { inThisTenant } from '../tenant-condition.ts'
import { canonicalValue } from './canonical-value.ts'
import type { GivenCustomField, ResourceWithCustomFields } from './schema.ts'
import { type CustomField, customFields } from './table.ts'

/** A field with the values a body gives it; none takes its values away. */
export type ResolvedField = {
  readonly field: CustomField
  readonly values: readonly string[]
  /** Where each value stands in the body. */
  readonly places: readonly string[]
}

/** The refusal of a field that resources of this type do not have. */
export const customFieldNotFound = (
  name: string,
  of: { readonly resourceType: string; readonly field: string },
): AppError =>
  new AppError(
    'RESOURCE_NOT_FOUND',
    `There is no custom field ${JSON.stringify(name)} for ${of.resourceType}; create it with POST /v1/custom-fields.`,
    { field: of.field, resourceType: 'CUSTOM_FIELD' },
  )

/**
 * The fields that the list names, each once, held against change until commit. `path` is where the list stands in the body. Throws
 * RESOURCE_NOT_FOUND, MISSING_FIELD or INVALID_FIELD with the place.
 */
export async function resolveGiven(
  uow: Uow,
  resourceType: ResourceWithCustomFields,
  given: readonly GivenCustomField[],
): Promise<ResolvedField[]> {
  if (given.length === 0) return []
  const known = await lockFields(uow, resourceType, given)
  const seen = new Set<string>()
  return given.map((entry, index) => {
    const place = `custom_fields.${index}`
    const field = namedField(known, resourceType, entry, place)
    if (seen.has(field.id)) {
      throw new AppError('INVALID_FIELD', `${field.reference} is there twice; send all its values in one entry.`, {
        field: place,
      })
    }
    seen.add(field.id)
    return { field, ...valuesOfEntry(field, entry, place) }
  })
}

/** The fields that are named by id or reference. Whoever changes a definition waits until they are used no more. */
async function lockFields(
  uow: Uow,
  resourceType: ResourceWithCustomFields,
  given: readonly GivenCustomField[],
): Promise<CustomField[]> {
  const f = customFields
  const ids = given.flatMap(({ id }) => id ?? [])
  const references = given.flatMap(({ reference }) => reference ?? [])
  return await uow.tx
    .select()
    .from(f)
    .where(
      and(
        inThisTenant(uow, f),
        eq(f.resource_type, resourceType),
        or(anyOf(f.id, idsOf('cufi', new Set(ids))), anyOf(f.reference, [...new Set(references)])),
      ),
    )
    .for('key share')
}

function namedField(
  known: readonly CustomField[],
  resourceType: string,
  { id, reference }: GivenCustomField,
  place: string,
): CustomField {
  const name = id ?? reference
  if (name === undefined) {
    throw new AppError('MISSING_FIELD', 'Name the custom field by its reference or its id.', {
      field: `${place}.reference`,
    })
  }
  const found = known.find(field => (id === undefined ? field.reference === reference : field.id === id))
  if (!found)
    throw customFieldNotFound(name, { resourceType, field: `${place}.${id === undefined ? 'reference' : 'id'}` })
  if (reference !== undefined && found.reference !== reference) {
    throw new AppError('INVALID_FIELD', `The field ${id} has the reference ${found.reference}; send one of the two.`, {
      field: `${place}.reference`,
    })
  }
  return found
}

function valuesOfEntry(
  field: CustomField,
  { value, values }: GivenCustomField,
  place: string,
): { readonly values: string[]; readonly places: string[] } {
  const several = values ?? []
  if (typeof value === 'string' && several.length > 0) {
    throw new AppError('INVALID_FIELD', 'Send value or values, not both.', { field: `${place}.values` })
  }
  if (several.length > 1 && !field.multiple_values) {
    throw new AppError('INVALID_FIELD', `${field.reference} takes one value; send it as value.`, {
      field: `${place}.values`,
    })
  }
  const texts = typeof value === 'string' ? [value] : several
  const places = texts.map((_text, index) =>
    typeof value === 'string' ? `${place}.value` : `${place}.values.${index}`,
  )
  const canonical = texts.map((text, index) => {
    const reading = canonicalValue(field, text)
    if (reading.kind === 'value') return reading.value
    throw new AppError('INVALID_FIELD', reading.message, { field: places[index] ?? place })
  })
  const twice = canonical.findIndex((text, index) => canonical.indexOf(text) !== index)
  if (twice !== -1) {
    throw new AppError('INVALID_FIELD', `${JSON.stringify(texts[twice])} is there twice.`, {
      field: places[twice] ?? place,
    })
  }
  return { values: canonical, places }
}
