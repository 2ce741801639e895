// Meter values: the quantities an event carries.
import { defineResource, field, LIFECYCLE_RULES } from '../../../resource/define-resource.ts'
import { Description, LifecycleStatus, Name, OneOf, Reference } from '../../../resource/shapes.ts'
import { type MeterValue, meterValues } from './table.ts'

export const meterValueResource = defineResource<MeterValue>({
  objectType: 'METER_VALUE',
  shapeName: 'MeterValue',
  idPrefix: 'metv',
  path: 'meter-values',
  table: meterValues,
  fields: {
    reference: field(Reference, { create: 'required', change: 'draft' }),
    name: field(Name, { create: 'required' }),
    description: field(Description),
    status: field(LifecycleStatus),
    type: field(OneOf('NUMBER', 'AMOUNT'), { create: 'required', change: 'draft' }),
  },
  operations: ['create', 'list', 'get', 'update', 'delete'],
  byReference: true,
  statuses: LIFECYCLE_RULES,
  paged: false,
  fixture: {
    create: async seed => ({
      reference: seed.unique('tokens'),
      name: seed.unique('Tokens'),
      type: 'NUMBER',
      status: 'ACTIVE',
    }),
    update: { description: 'What is counted.' },
  },
})
