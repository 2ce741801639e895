import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import { tenantColumns, wireJson } from '../../../resource/columns.ts'
import type { Address } from '../../../resource/shapes.ts'
import type { TaxIds, TaxIdValidation, TaxRegistration } from '../tax-ids/schema.ts'
import type { TaxSettings } from './schema.ts'

export const billingEntities = pgTable('billing_entities', {
  ...tenantColumns<'bill'>(),
  reference: text().notNull(),
  status: text().$type<'DRAFT' | 'ACTIVE' | 'DEPRECATED' | 'ARCHIVED'>().notNull(),
  timezone: text(),
  legal_name: text(),
  tax_id: text(),
  tax_id_validation_result: wireJson<TaxIdValidation>(),
  tax_ids: wireJson<TaxIds>(),
  registration_number: text(),
  registered_address: wireJson<Static<typeof Address>>(),
  email: text(),
  tax_settings: wireJson<Static<typeof TaxSettings>>(),
  tax_registrations: wireJson<TaxRegistration[]>(),
  /** The customers, by country, and the currencies that a template chooses it for. */
  default_customer_country_selector: text().array(),
  default_billing_currency_selector: text().array(),
})

export type BillingEntity = typeof billingEntities.$inferSelect
