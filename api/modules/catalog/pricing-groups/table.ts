import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns } from '../../../resource/columns.ts'
import type { SelectionConstraint } from './schema.ts'

export const pricingGroups = pgTable('pricing_groups', {
  ...tenantColumns<'prgr'>(),
  pricing_plan_version_id: text().$type<Id<'ppve'>>().notNull(),
  name: text().notNull(),
  product_type: text().$type<'DEFAULT' | 'ADDON'>().notNull(),
  selection_constraint: text().$type<SelectionConstraint>().notNull(),
  display_order: integer(),
  /** As of a pricing. */
  of_schedules: boolean().notNull().default(false),
})

export type PricingGroup = typeof pricingGroups.$inferSelect
