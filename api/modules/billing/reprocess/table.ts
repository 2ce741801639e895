import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, timestamp, wireJson } from '../../../resource/columns.ts'

type Range = { readonly start_at?: string | null; readonly end_at?: string | null }

export const reprocesses = pgTable('reprocesses', {
  ...tenantColumns<'repr'>(),
  type: text().$type<'NOT_MATCHED' | 'INVOICE' | 'CUSTOMER'>().notNull(),
  status: text().$type<'SCHEDULED' | 'IN_PROGRESS' | 'DONE' | 'ERROR'>().notNull(),
  percentage: integer().notNull(),
  message: text(),
  invoice: wireJson<{ invoice_id: string }>(),
  not_matched: wireJson<Range & { customer_id?: string | null }>(),
  customer: wireJson<Range & { customer_id: string }>(),
  invoice_id: text().$type<Id<'invo'>>(),
  customer_id: text().$type<Id<'cust'>>(),
  start_at: timestamp(),
  end_at: timestamp(),
  automatic: boolean().notNull(),
  scheduled_at: timestamp().notNull(),
  finished_at: timestamp(),
})

export type Reprocess = typeof reprocesses.$inferSelect
