// Customers: who a platform bills. Usage may name a customer before it exists, so references stay once they are in use.
import Type from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field, type Resource, readOnly } from '../../../resource/define-resource.ts'
import { SelectorShape } from '../../../resource/selector.ts'
import { IdText, OneOf, Reference, Timestamp, TimeZone } from '../../../resource/shapes.ts'
import { requireAll } from '../../../resource/store.ts'
import { billingEntityResource } from '../billing-entities/billing-entity.ts'
import { NotificationPreferences } from '../notification-preferences.ts'
import { checkEmail, Email } from '../schema.ts'
import { checkedOrganization } from './check-organization.ts'
import { canonicalSelector, checkSelector } from './customer-selector.ts'
import { CUSTOMER_STATUS_RULES, CustomerStatus } from './customer-status.ts'
import { type GivenParent, onlyParent, PARENTS_MAX, resolvedParents } from './parents.ts'
import { defaultRoles, type GivenProcessingOnly, withRole } from './processing-only.ts'
import { CustomerSellerDetails, Individual, Organization, Roles } from './schema.ts'
import { type Customer, customers } from './table.ts'
import { saveTermsHistory } from './terms-history.ts'

/** Throws INVALID_FIELD for what only a SELLER has, and RESOURCE_NOT_FOUND for an unknown billing entity. */
async function checkSellerDetails(uow: Uow, row: Customer, previous: Customer | null): Promise<void> {
  if (row.seller_details === null) return
  if (!row.roles.includes('SELLER'))
    throw new AppError('INVALID_FIELD', 'Only a customer with the role SELLER has seller_details; leave them out.', {
      field: 'seller_details',
    })
  const { default_billing_entity_id: id } = row.seller_details
  if (!id || id === previous?.seller_details?.default_billing_entity_id) return
  await requireAll(uow, billingEntityResource, [{ id, field: 'seller_details.default_billing_entity_id' }])
}

/** A part that is exempt lies between nothing and all; all of it is `tax_exempt`. */
function checkExemption(organization: Customer['organization']): void {
  const { tax_exempt_percentage: given, tax_exempt: isExempt } = organization ?? {}
  if (given === undefined || given === null) return
  const field = 'organization.tax_exempt_percentage'
  const part = decimal(given)
  if (part.lte(ZERO) || part.gte(decimal('100')))
    throw new AppError('INVALID_FIELD', 'It lies between 0 and 100; send tax_exempt for a customer that is exempt.', {
      field,
    })
  if (isExempt)
    throw new AppError('INVALID_FIELD', 'A customer with tax_exempt is exempt in full; leave the percentage out.', {
      field,
    })
}

export const customerResource: Resource<Customer> = defineResource<Customer, GivenParent & GivenProcessingOnly>({
  objectType: 'CUSTOMER',
  shapeName: 'Customer',
  idPrefix: 'cust',
  path: 'customers',
  table: customers,
  fields: {
    reference: field(Reference, { change: 'draft' }),
    status: field(CustomerStatus),
    type: field(OneOf('ORGANIZATION', 'INDIVIDUAL'), { create: 'required' }),
    timezone: field(TimeZone),
    // Null, the empty string and white space all mean no email (contract: PATCH /v1/customers/{id}).
    email: field(Email),
    notification_preferences: field(NotificationPreferences),
    locale: field(Type.String({ pattern: '^[a-z]{2}(-[A-Z]{2})?$' })),
    individual: field(Individual),
    organization: field(Organization),
    parent_customer_ids: field(Type.Array(IdText('customer'), { maxItems: PARENTS_MAX, uniqueItems: true })),
    // Whether a customer is billed decides whose its usage is, so it is fixed before there is any.
    roles: field(Roles, { change: 'draft' }),
    seller_details: field(CustomerSellerDetails),
    pricing_plan_subscription_selector: field(SelectorShape),
    forgotten_at: readOnly(Timestamp),
  },
  given: {
    parent_customer_id: field(IdText('customer')),
    processing_only: field(Type.Boolean(), { change: 'draft' }),
  },
  operations: ['create', 'upsert', 'list', 'search', 'get', 'update', 'delete', 'activate', 'deprecate', 'archive'],
  byReference: true,
  testClockOf: 'id',
  customFields: true,
  statuses: CUSTOMER_STATUS_RULES,
  orderBy: ['reference', 'email'],
  searchable: ['reference', 'email', 'status', 'type'],
  references: { parent_customer_ids: () => customerResource },
  computed: { parent_customer_id: IdText('customer'), processing_only: Type.Boolean() },
  derive: ({ parent_customer_ids: ids, roles }) => ({
    parent_customer_id: onlyParent(ids),
    processing_only: roles.includes('PROCESSING_ONLY'),
  }),
  defaults: (_uow, row: Customer & GivenProcessingOnly) => ({ parent_customer_ids: [], roles: defaultRoles(row) }),
  prepare: row => ({
    ...row,
    email: row.email?.trim() || null,
    pricing_plan_subscription_selector: canonicalSelector(row.pricing_plan_subscription_selector),
  }),
  resolve: async (uow, row, previous) => ({
    ...(await resolvedParents(uow, {
      row: withRole(row, previous),
      previous,
      requireAll: ids => requireAll(uow, customerResource, ids),
    })),
    organization: row.organization && (await checkedOrganization(row.organization, previous?.organization, uow.now)),
  }),
  afterSave: saveTermsHistory,
  check: async (uow, row, previous) => {
    checkSelector(row.pricing_plan_subscription_selector)
    checkEmail(row.email)
    await checkSellerDetails(uow, row, previous)
    checkExemption(row.organization)
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
