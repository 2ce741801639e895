import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, timestamp, wireJson } from '../../../resource/columns.ts'

export const bulkActions = pgTable('bulk_actions', {
  ...tenantColumns<'bulk'>(),
  type: text().$type<'FINALIZE_INVOICES'>().notNull(),
  status: text().$type<'SCHEDULED' | 'IN_PROGRESS' | 'DONE' | 'ERROR'>().notNull(),
  message: text(),
  finalize_invoices: wireJson<{ readonly invoice_date: string }>(),
  actor_id: text(),
  executed_at: timestamp(),
})

export type BulkAction = typeof bulkActions.$inferSelect

export const bulkActionItems = pgTable('bulk_action_items', {
  ...tenantColumns<'buit'>(),
  bulk_action_id: text().$type<Id<'bulk'>>().notNull(),
  invoice_id: text().$type<Id<'invo'>>().notNull(),
  status: text().$type<'SCHEDULED' | 'SUCCEEDED' | 'FAILED'>().notNull(),
  message: text(),
})

export type BulkActionItem = typeof bulkActionItems.$inferSelect
