// Customers: who a platform bills. Usage may name a customer before it exists, so references stay once they are in use.

import Type from 'typebox'
import { AppError } from '../../../shared/errors.ts'
import { defineResource, field, LIFECYCLE_RULES } from '../../resource/define-resource.ts'
import { LifecycleStatus, OneOf, Reference, TimeZone } from '../../resource/shapes.ts'
import { Individual, Organization } from './schema.ts'
import { type Customer, customers } from './table.ts'

export const customerResource = defineResource<Customer>({
  objectType: 'CUSTOMER',
  shapeName: 'Customer',
  idPrefix: 'cust',
  path: 'customers',
  table: customers,
  fields: {
    reference: field(Reference, { change: 'draft' }),
    status: field(LifecycleStatus),
    type: field(OneOf('ORGANIZATION', 'INDIVIDUAL'), { create: 'required' }),
    timezone: field(TimeZone),
    // Null, the empty string and white space all mean no email (contract: PATCH /v1/customers/{id}).
    email: field(Type.String({ maxLength: 320 })),
    locale: field(Type.String({ pattern: '^[a-z]{2}(-[A-Z]{2})?$' })),
    individual: field(Individual),
    organization: field(Organization),
  },
  operations: ['create', 'upsert', 'list', 'search', 'get', 'update', 'delete', 'activate', 'deprecate', 'archive'],
  byReference: true,
  statuses: LIFECYCLE_RULES,
  orderBy: ['reference', 'email'],
  searchable: ['reference', 'email', 'status', 'type'],
  prepare: row => ({ ...row, email: row.email?.trim() || null }),
  check: (_uow, row) => {
    if (row.email !== null && !/^[^\s@]+@[^\s@]+$/.test(row.email)) {
      throw new AppError('INVALID_FIELD', 'email must be one address, such as billing@example.com.', { field: 'email' })
    }
    const foreign = row.type === 'ORGANIZATION' ? 'individual' : 'organization'
    if (row[foreign]) {
      throw new AppError('INVALID_FIELD', `A customer of type ${row.type} has no ${foreign}.`, { field: foreign })
    }
  },
  fixture: {
    create: async seed => ({
      reference: seed.unique('acme'),
      type: 'ORGANIZATION',
      status: 'ACTIVE',
      email: 'billing@example.com',
      organization: { legal_name: seed.unique('Acme'), registered_address: { country: 'NL', city: 'Utrecht' } },
    }),
    update: { timezone: 'Europe/Amsterdam' },
  },
})
