// Billing entities: the legal persons that issue a platform's invoices.
import Type from 'typebox'
import { defineResource, field, LIFECYCLE_RULES, readOnly } from '../../../resource/define-resource.ts'
import { Address, Country, Currency, LifecycleStatus, Name, Reference, TimeZone } from '../../../resource/shapes.ts'
import { checkEmail, Email } from '../schema.ts'
import { RegistrationNumber, TaxIds, TaxIdText, TaxIdValidation, TaxRegistrations } from '../tax-ids/schema.ts'
import { withRegistrationChecks, withTaxIdChecks } from '../tax-ids/with-checks.ts'
import { TaxSettings } from './schema.ts'
import { type BillingEntity, billingEntities } from './table.ts'

/** As many as there are countries. */
const SELECTED_MAX = 300

export const billingEntityResource = defineResource<BillingEntity>({
  objectType: 'BILLING_ENTITY',
  shapeName: 'BillingEntity',
  idPrefix: 'bill',
  path: 'billing-entities',
  table: billingEntities,
  fields: {
    reference: field(Reference, { create: 'required' }),
    status: field(LifecycleStatus),
    timezone: field(TimeZone),
    legal_name: field(Name),
    tax_id: field(TaxIdText),
    tax_id_validation_result: readOnly(TaxIdValidation),
    tax_ids: field(TaxIds),
    registration_number: field(RegistrationNumber),
    registered_address: field(Address),
    email: field(Email),
    tax_settings: field(TaxSettings),
    tax_registrations: field(TaxRegistrations),
    default_customer_country_selector: field(Type.Array(Country, { maxItems: SELECTED_MAX, uniqueItems: true })),
    default_billing_currency_selector: field(Type.Array(Currency, { maxItems: SELECTED_MAX, uniqueItems: true })),
  },
  operations: ['create', 'upsert', 'list', 'get', 'update'],
  byReference: true,
  customFields: true,
  statuses: LIFECYCLE_RULES,
  paged: false,
  orderBy: ['reference', 'legal_name'],
  // There is no activate call for it, so an entity can be billed from as soon as it is there.
  defaults: () => ({ status: 'ACTIVE' }),
  prepare: row => ({ ...row, email: row.email?.trim() || null }),
  resolve: async (uow, row, previous) => {
    const check = { path: '', now: uow.now }
    const checked = await withTaxIdChecks(row, previous, check)
    return {
      ...checked,
      tax_id_validation_result: checked.tax_id_validation_result ?? null,
      tax_registrations: await withRegistrationChecks(row.tax_registrations, previous?.tax_registrations, check),
    }
  },
  check: (_uow, row) => {
    checkEmail(row.email)
  },
  fixture: {
    create: async seed => ({
      reference: seed.unique('entity'),
      legal_name: seed.unique('Issuer'),
      timezone: 'Europe/Amsterdam',
      tax_id: 'NL004495445B01',
      tax_ids: [{ type: 'GENERIC_TAX_ID', id: 'GB980780684', display_name: 'VAT (GB)' }],
      registered_address: { line1: 'Oudegracht 1', city: 'Utrecht', postal_code: '3511 AA', country: 'NL' },
      tax_registrations: [{ tax_id: 'DE136695976', registered_address: { country: 'DE' } }],
    }),
    update: { tax_settings: { apply_local_vat_for_missing_tax_id: true } },
  },
})
