// Contacts: people at a customer.
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field } from '../../../resource/define-resource.ts'
import { IdText, Reference } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { customerResource } from '../customers/resource.ts'
import { NotificationPreferences } from '../notification-preferences.ts'
import { checkEmail, Email, PersonName } from '../schema.ts'
import { type Contact, contacts } from './table.ts'

export const contactResource = defineResource<Contact>({
  objectType: 'CONTACT',
  shapeName: 'Contact',
  idPrefix: 'cont',
  path: 'contacts',
  table: contacts,
  fields: {
    reference: field(Reference, { create: 'required' }),
    customer_id: field(IdText('customer'), { create: 'required', change: 'never' }),
    name: field(PersonName),
    email: field(Email),
    notification_preferences: field(NotificationPreferences),
  },
  operations: ['create', 'upsert', 'list', 'get', 'update', 'delete'],
  byReference: true,
  // Nothing of a contact depends on the time.
  testClockOf: null,
  customFields: true,
  references: { customer_id: () => customerResource },
  expand: { customer: { by: 'customer_id', to: () => customerResource } },
  filters: { customer_id: { kind: 'equals', column: 'customer_id' } },
  orderBy: ['reference', 'email'],
  prepare: row => ({ ...row, email: row.email?.trim() || null }),
  check: async (uow, row, previous) => {
    checkEmail(row.email)
    if (previous === null && (await getOne(uow, customerResource, row.customer_id)).forgotten_at !== null)
      throw new AppError('INVALID_OPERATION', 'The customer is forgotten and takes no more personal data.', {
        field: 'customer_id',
        resourceId: row.customer_id,
        resourceType: 'CUSTOMER',
      })
  },
  fixture: {
    create: async seed => ({
      customer_id: (await seed.make(customerResource)).id,
      reference: seed.unique('contact'),
      name: { first_name: 'Ada', last_name: 'Lovelace' },
      email: 'ada@example.com',
    }),
    update: { email: 'ada.lovelace@example.com' },
  },
})
