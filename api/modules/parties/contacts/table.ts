import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, wireJson } from '../../../resource/columns.ts'
import type { PersonName } from '../schema.ts'

export const contacts = pgTable('contacts', {
  ...tenantColumns<'cont'>(),
  reference: text().notNull(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  name: wireJson<Static<typeof PersonName>>(),
  email: text(),
})

export type Contact = typeof contacts.$inferSelect
