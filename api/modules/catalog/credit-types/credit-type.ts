// Credit types: the units of which wallets hold credits (semantics 6).
import { defineResource, field, PAUSABLE_RULES } from '../../../resource/define-resource.ts'
import { Description, Name, PausableStatus, Reference } from '../../../resource/shapes.ts'
import { UnitName } from './schema.ts'
import { type CreditType, creditTypes } from './table.ts'

export const creditTypeResource = defineResource<CreditType>({
  objectType: 'CREDIT_TYPE',
  shapeName: 'CreditType',
  idPrefix: 'ctyp',
  path: 'credit-types',
  table: creditTypes,
  fields: {
    reference: field(Reference, { create: 'required', change: 'draft' }),
    status: field(PausableStatus),
    name: field(Name, { create: 'required' }),
    description: field(Description),
    unit_name: field(UnitName),
  },
  operations: ['create', 'list', 'get', 'update', 'activate', 'deactivate', 'deprecate', 'archive'],
  byReference: true,
  statuses: PAUSABLE_RULES,
  orderBy: ['reference', 'name'],
  fixture: {
    create: async seed => ({
      reference: seed.unique('credits'),
      name: 'Compute credits',
      status: 'ACTIVE',
      unit_name: { singular: 'credit', plural: 'credits' },
    }),
    update: { description: 'Spent by inference.' },
  },
})
