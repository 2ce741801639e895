import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import { tenantColumns, wireJson } from '../../resource/columns.ts'
import type { Individual, Organization } from './schema.ts'

export const customers = pgTable('customers', {
  ...tenantColumns(),
  reference: text(),
  status: text().$type<'DRAFT' | 'ACTIVE' | 'DEPRECATED' | 'ARCHIVED'>().notNull(),
  type: text().$type<'ORGANIZATION' | 'INDIVIDUAL'>().notNull(),
  timezone: text(),
  email: text(),
  locale: text(),
  individual: wireJson<Static<typeof Individual>>(),
  organization: wireJson<Static<typeof Organization>>(),
})

export type Customer = typeof customers.$inferSelect
