import { boolean, pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns, timestamp } from '../../resource/columns.ts'

export const AUTHENTICATION_TYPES = ['PASSWORD', 'API_KEY', 'NONE'] as const
export type AuthenticationType = (typeof AUTHENTICATION_TYPES)[number]

export const webhooks = pgTable('webhooks', {
  ...tenantColumns(),
  reference: text().notNull(),
  name: text().notNull(),
  url: text().notNull(),
  included_actions: text().array().notNull(),
  excluded_actions: text().array().notNull(),
  active: boolean().notNull(),
  disabled_reason: text(),
  include_previous_data: boolean().notNull(),
  authentication_type: text().$type<AuthenticationType>().notNull(),
  username: text(),
  password_sealed: text(),
  api_header_field: text(),
  api_key_sealed: text(),
  secret_sealed: text(),
  secret_rolled_at: timestamp(),
  previous_secret_sealed: text(),
  previous_secret_until: timestamp(),
})

export type Webhook = typeof webhooks.$inferSelect
