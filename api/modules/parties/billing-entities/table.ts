import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import { tenantColumns, wireJson } from '../../../resource/columns.ts'
import type { Address } from '../../../resource/shapes.ts'
import type { TaxRegistration, TaxSettings } from './schema.ts'

export const billingEntities = pgTable('billing_entities', {
  ...tenantColumns(),
  reference: text().notNull(),
  status: text().$type<'DRAFT' | 'ACTIVE' | 'DEPRECATED' | 'ARCHIVED'>().notNull(),
  timezone: text(),
  legal_name: text(),
  tax_id: text(),
  registration_number: text(),
  registered_address: wireJson<Static<typeof Address>>(),
  email: text(),
  tax_settings: wireJson<Static<typeof TaxSettings>>(),
  tax_registrations: wireJson<TaxRegistration[]>(),
})

export type BillingEntity = typeof billingEntities.$inferSelect
