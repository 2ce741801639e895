import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { decimalText, tenantColumns, timestamp } from '../../../resource/columns.ts'

// It is never updated.
const { updated_at: _never, ...columns } = tenantColumns()

export const persistData = pgTable('persist_data', {
  ...columns,
  seq: bigint({ mode: 'bigint' }).generatedAlwaysAsIdentity(),
  reference: text().notNull(),
  customer_id: text().notNull(),
  pricing_plan_subscription_id: text().notNull(),
  pricing_plan_schedule_id: text().notNull(),
  pricing_id: text().notNull(),
  pricing_item_id: text().notNull(),
  pricing_item_config_id: text().notNull(),
  start_at: timestamp().notNull(),
  end_at: timestamp(),
  persist_usage: decimalText().notNull(),
})

export type PersistData = typeof persistData.$inferSelect
