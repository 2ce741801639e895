import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, wireJson } from '../../../resource/columns.ts'
import type { NotificationPreferences } from '../notification-preferences.ts'
import type { PersonName } from '../schema.ts'

export const contacts = pgTable('contacts', {
  ...tenantColumns<'cont'>(),
  reference: text().notNull(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  name: wireJson<Static<typeof PersonName>>(),
  email: text(),
  notification_preferences: wireJson<NotificationPreferences>(),
})

export type Contact = typeof contacts.$inferSelect
