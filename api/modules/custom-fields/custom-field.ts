// Custom fields: what a platform records of its resources beyond their own fields (contract: POST /v1/custom-fields; semantics 9.4).
// How a resource gets them, and keeps their values: api/resource/custom-fields/.
import Type from 'typebox'
import { CUSTOM_FIELD_TYPES, VALUE_LENGTH_MAX } from '../../resource/custom-fields/schema.ts'
import { type CustomField, customFields } from '../../resource/custom-fields/table.ts'
import { defineResource, field } from '../../resource/define-resource.ts'
import { Description, Name, Reference } from '../../resource/shapes.ts'
import { checkDefinition, refuseWhileUsed, restrictValues } from './definition-rules.ts'

const ENUM_VALUES_MAX = 1_000
const TypeName = Type.Enum([...CUSTOM_FIELD_TYPES])
/**
 * The contract writes types in small letters, its shapes in capitals. Two lists, since generators of clients make one name of
 * values that differ in case alone.
 */
const GivenType = Type.Union([TypeName, Type.Enum(['string', 'number', 'boolean', 'enum'])])

/** Fields of what is of these object types. */
export const customFieldResourceOf = (types: readonly string[]) =>
  defineResource<CustomField>({
    objectType: 'CUSTOM_FIELD',
    shapeName: 'CustomField',
    idPrefix: 'cufi',
    path: 'custom-fields',
    table: customFields,
    fields: {
      reference: field(Reference, { create: 'required' }),
      resource_type: field(Type.Enum([...types]), { create: 'required', change: 'never' }),
      name: field(Name),
      description: field(Description),
      type: field(GivenType, { shown: TypeName }),
      enum_values: field(
        Type.Array(Type.String({ minLength: 1, maxLength: VALUE_LENGTH_MAX, pattern: '\\S' }), {
          minItems: 1,
          maxItems: ENUM_VALUES_MAX,
          uniqueItems: true,
        }),
      ),
      multiple_values: field(Type.Boolean()),
      unique_value: field(Type.Boolean()),
      copy_value_to_invoice: field(Type.Boolean()),
    },
    operations: ['create', 'list', 'get', 'update', 'delete'],
    byReference: false,
    filters: {
      resource_type: { kind: 'equals', column: 'resource_type', schema: Type.Enum([...types]) },
      reference: { kind: 'equals', column: 'reference' },
    },
    orderBy: ['reference', 'name'],
    defaults: () => ({
      type: 'STRING',
      multiple_values: false,
      unique_value: false,
      copy_value_to_invoice: false,
    }),
    prepare: row => ({ ...row, type: row.type.toUpperCase() as CustomField['type'] }),
    check: checkDefinition,
    afterSave: restrictValues,
    beforeDelete: refuseWhileUsed,
    fixture: {
      create: async seed => ({
        reference: seed.unique('cost-center'),
        name: seed.unique('Cost center'),
        resource_type: 'CUSTOMER',
        type: 'ENUM',
        enum_values: ['north', 'south'],
      }),
      update: { enum_values: ['north', 'south', 'west'], copy_value_to_invoice: true },
    },
  })
