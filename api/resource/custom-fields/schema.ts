// Wire shapes of custom fields and of the values that resources have of them.
import Type, { type Static } from 'typebox'
import { IdText, Nullable, Optional, Reference, Shape } from '../shapes.ts'

/** The object type of something that has custom fields: each resource says so itself, and a module of what is no resource. */
export type ResourceWithCustomFields = string

export const CUSTOM_FIELD_TYPES = ['STRING', 'NUMBER', 'BOOLEAN', 'ENUM'] as const
export type CustomFieldType = (typeof CUSTOM_FIELD_TYPES)[number]

export const VALUE_LENGTH_MAX = 500
/** Values of one field that takes several. */
export const VALUES_MAX = 100
/** Custom fields of one resource type. */
export const FIELDS_MAX = 100

const Value = Type.String({ maxLength: VALUE_LENGTH_MAX })

/** A value, or several, of one custom field: in bodies named by id or reference, in answers by both. */
export const CustomFieldValueShape = Shape(
  {
    id: Optional(IdText('custom field')),
    reference: Optional(Reference),
    value: Optional(Nullable(Value)),
    values: Optional(Nullable(Type.Array(Value, { maxItems: VALUES_MAX }))),
  },
  { title: 'CustomFieldValue' },
)
export type GivenCustomField = Static<typeof CustomFieldValueShape>

export const CustomFieldValues = Type.Array(CustomFieldValueShape, { maxItems: FIELDS_MAX })

/** A value as answers show it: `value` of a field that takes one, `values` of a field that takes several. */
export type CustomFieldView =
  | { readonly id: string; readonly reference: string; readonly value: string }
  | { readonly id: string; readonly reference: string; readonly values: string[] }
