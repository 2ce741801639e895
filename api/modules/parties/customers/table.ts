import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import type { WireSelector } from '../../../../shared/attribution/selector.ts'
import { tenantColumns, timestamp, wireJson } from '../../../resource/columns.ts'
import type { NotificationPreferences } from '../notification-preferences.ts'
import type { CustomerStatus } from './customer-status.ts'
import type { CustomerRole, CustomerSellerDetails, Individual, Organization } from './schema.ts'

export const customers = pgTable('customers', {
  ...tenantColumns<'cust'>(),
  reference: text(),
  status: text().$type<CustomerStatus>().notNull(),
  type: text().$type<'ORGANIZATION' | 'INDIVIDUAL'>().notNull(),
  timezone: text(),
  email: text(),
  notification_preferences: wireJson<NotificationPreferences>(),
  locale: text(),
  individual: wireJson<Static<typeof Individual>>(),
  organization: wireJson<Organization>(),
  parent_customer_ids: text().array().notNull(),
  roles: text().$type<CustomerRole>().array().notNull(),
  seller_details: wireJson<CustomerSellerDetails>(),
  pricing_plan_subscription_selector: wireJson<WireSelector>(),
  forgotten_at: timestamp(),
  attribution_terms: wireJson<AttributionTerms[]>(),
})

/** What holds of a customer's events from an instant on; kept for the events of the time before a change. */
export type AttributionTerms = {
  readonly from: string
  readonly selector: WireSelector | null
  readonly parent_customer_ids: string[]
}

export type Customer = typeof customers.$inferSelect
