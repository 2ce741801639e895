import { pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns, timestamp, wireJson } from '../../../resource/columns.ts'

export const bulkActions = pgTable('bulk_actions', {
  ...tenantColumns(),
  type: text().$type<'FINALIZE_INVOICES'>().notNull(),
  status: text().$type<'SCHEDULED' | 'IN_PROGRESS' | 'DONE' | 'ERROR'>().notNull(),
  message: text(),
  finalize_invoices: wireJson<{ readonly invoice_date: string }>(),
  actor_id: text(),
  executed_at: timestamp(),
})

export type BulkAction = typeof bulkActions.$inferSelect

export const bulkActionItems = pgTable('bulk_action_items', {
  ...tenantColumns(),
  bulk_action_id: text().notNull(),
  invoice_id: text().notNull(),
  status: text().$type<'SCHEDULED' | 'SUCCEEDED' | 'FAILED'>().notNull(),
  message: text(),
})

export type BulkActionItem = typeof bulkActionItems.$inferSelect
