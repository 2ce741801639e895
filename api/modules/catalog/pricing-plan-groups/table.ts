import { pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns } from '../../../resource/columns.ts'
import type { LIFECYCLE } from '../../../resource/shapes.ts'
import type { PlanChangeType } from './schema.ts'

export const pricingPlanGroups = pgTable('pricing_plan_groups', {
  ...tenantColumns<'ppgr'>(),
  reference: text().notNull(),
  name: text(),
  description: text(),
  status: text().$type<(typeof LIFECYCLE)[number]>().notNull(),
  pricing_plan_ids: text().array().notNull(),
  upgrade_type: text().$type<PlanChangeType>().notNull(),
  downgrade_type: text().$type<PlanChangeType>().notNull(),
})

export type PricingPlanGroup = typeof pricingPlanGroups.$inferSelect
