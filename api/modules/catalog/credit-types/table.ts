import { pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns, wireJson } from '../../../resource/columns.ts'
import type { PAUSABLE } from '../../../resource/shapes.ts'
import type { UnitName } from './schema.ts'

export const creditTypes = pgTable('credit_types', {
  ...tenantColumns<'ctyp'>(),
  reference: text().notNull(),
  status: text().$type<(typeof PAUSABLE)[number]>().notNull(),
  name: text().notNull(),
  description: text(),
  unit_name: wireJson<UnitName>(),
})

export type CreditType = typeof creditTypes.$inferSelect
