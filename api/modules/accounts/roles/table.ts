import { pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns } from '../../../resource/columns.ts'

export const roles = pgTable('roles', {
  ...tenantColumns<'role'>(),
  name: text().notNull(),
  description: text(),
  permissions: text().array().notNull(),
  child_role_ids: text().array().notNull(),
})

export type RoleRow = typeof roles.$inferSelect
