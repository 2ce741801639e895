import { boolean, pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns, timestamp } from '../../../resource/columns.ts'

/** A view of the table api_keys: without the keys processes make for themselves, and without what is derived from a key's text. */
export const apiKeys = pgTable('tenant_api_keys', {
  ...tenantColumns<'akey'>(),
  type: text().$type<'STANDARD' | 'PROXY'>().notNull(),
  role_type: text().$type<'ADMINISTRATOR' | 'READ_ONLY'>().notNull(),
  description: text(),
  display_prefix: text().notNull(),
  last_four: text().notNull(),
  created_by: text(),
  original_user_ids: text().array().notNull(),
  revoked_at: timestamp(),
  active: boolean().notNull(),
  last_used_at: timestamp(),
})

export type ApiKey = typeof apiKeys.$inferSelect
