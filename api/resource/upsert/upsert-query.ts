// What a PUT goes by: `identifier_field`, `custom_field_reference` and `field_actions[…]` (semantics 9.5).
import Type from 'typebox'
import { AppError } from '../../../shared/errors.ts'
import { type FieldActions, fieldActionsOf, fieldActionsQuery } from '../changes/field-actions.ts'
import type { Resource } from '../define-resource.ts'
import { Reference, Shape } from '../shapes.ts'
import type { Identifier } from './upsert.ts'

/** The query parameters of the PUT of a resource. */
export const upsertQuery = (resource: Resource) =>
  Shape({
    ...(resource.customFields
      ? {
          identifier_field: Type.Optional(Type.Enum(['reference', 'custom_field'])),
          custom_field_reference: Type.Optional(Reference),
        }
      : { identifier_field: Type.Optional(Type.Enum(['reference'])) }),
    ...fieldActionsQuery(resource),
  })

type Query = { readonly identifier_field?: string; readonly custom_field_reference?: string }

/** What the query says. Throws MISSING_FIELD or INVALID_FIELD when a custom field is named and not meant, or the other way round. */
export function upsertOptions(query: object): { identifier: Identifier; actions: FieldActions } {
  const { identifier_field, custom_field_reference: reference } = query as Query
  const byCustomField = identifier_field === 'custom_field'
  const field = 'custom_field_reference'
  if (byCustomField && reference === undefined) {
    throw new AppError('MISSING_FIELD', 'identifier_field=custom_field needs the reference of the field.', { field })
  }
  if (!byCustomField && reference !== undefined) {
    throw new AppError('INVALID_FIELD', 'It goes with identifier_field=custom_field alone.', { field })
  }
  return {
    identifier: byCustomField && reference !== undefined ? { customField: reference } : 'reference',
    actions: fieldActionsOf(query),
  }
}
