import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { decimalText, tenantColumns, timestamp } from '../../../resource/columns.ts'

// It is never updated.
const { updated_at: _never, ...columns } = tenantColumns()

export const persistData = pgTable('persist_data', {
  ...columns,
  seq: bigint({ mode: 'bigint' }).generatedAlwaysAsIdentity(),
  reference: text().notNull(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  pricing_plan_subscription_id: text().$type<Id<'ppsu'>>().notNull(),
  pricing_plan_schedule_id: text().$type<Id<'ppsc'>>().notNull(),
  pricing_id: text().$type<Id<'prcg'>>().notNull(),
  pricing_item_id: text().$type<Id<'prii'>>().notNull(),
  pricing_item_config_id: text().$type<Id<'pico'>>().notNull(),
  start_at: timestamp().notNull(),
  end_at: timestamp(),
  persist_usage: decimalText().notNull(),
})

export type PersistData = typeof persistData.$inferSelect
