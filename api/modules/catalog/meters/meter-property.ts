// Meter properties: the facts an event carries beside its quantities.
import Type from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field, LIFECYCLE_RULES } from '../../../resource/define-resource.ts'
import { Description, LifecycleStatus, Name, OneOf, Reference } from '../../../resource/shapes.ts'
import { type MeterProperty, meterProperties } from './table.ts'

export const ENUM_VALUES_MAX = 1_000

export const meterPropertyResource = defineResource<MeterProperty>({
  objectType: 'METER_PROPERTY',
  shapeName: 'MeterProperty',
  idPrefix: 'metp',
  path: 'meter-properties',
  table: meterProperties,
  fields: {
    reference: field(Reference, { create: 'required', change: 'draft' }),
    name: field(Name, { create: 'required' }),
    description: field(Description),
    status: field(LifecycleStatus),
    type: field(OneOf('NUMBER', 'ENUM', 'STRING'), { create: 'required', change: 'draft' }),
    enum_values: field(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        minItems: 1,
        maxItems: ENUM_VALUES_MAX,
        uniqueItems: true,
      }),
    ),
  },
  operations: ['create', 'list', 'get', 'update', 'delete'],
  byReference: true,
  statuses: LIFECYCLE_RULES,
  paged: false,
  check: (_uow, row, previous) => {
    if ((row.type === 'ENUM') !== (row.enum_values !== null)) {
      throw new AppError('INVALID_FIELD', 'enum_values belongs to type ENUM, and type ENUM needs it.', {
        field: 'enum_values',
      })
    }
    // Events already carry the listed values, so a live property may gain values but never lose one (semantics 1.1).
    const lost =
      previous?.status === 'DRAFT' ? undefined : previous?.enum_values?.find(value => !row.enum_values?.includes(value))
    if (lost !== undefined) {
      throw new AppError('INVALID_FIELD', `${JSON.stringify(lost)} cannot be removed from a property that is in use.`, {
        field: 'enum_values',
      })
    }
  },
  fixture: {
    create: async seed => ({
      reference: seed.unique('model'),
      name: seed.unique('Model'),
      type: 'ENUM',
      enum_values: ['small', 'large'],
      status: 'ACTIVE',
    }),
    update: { enum_values: ['small', 'large', 'huge'] },
  },
})
