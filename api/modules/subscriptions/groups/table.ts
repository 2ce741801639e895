import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns } from '../../../resource/columns.ts'

export const subscriptionGroups = pgTable('pricing_plan_subscription_groups', {
  ...tenantColumns<'ppsg'>(),
  reference: text().notNull(),
  name: text(),
  description: text(),
  owner_customer_id: text().$type<Id<'cust'>>(),
})

export type SubscriptionGroup = typeof subscriptionGroups.$inferSelect
