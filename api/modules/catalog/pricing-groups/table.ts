import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns } from '../../../resource/columns.ts'
import type { SelectionConstraint } from './schema.ts'

export const pricingGroups = pgTable('pricing_groups', {
  ...tenantColumns(),
  pricing_plan_version_id: text().notNull(),
  name: text().notNull(),
  product_type: text().$type<'DEFAULT' | 'ADDON'>().notNull(),
  selection_constraint: text().$type<SelectionConstraint>().notNull(),
  display_order: integer(),
})

export type PricingGroup = typeof pricingGroups.$inferSelect
