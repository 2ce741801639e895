import { pgTable, text } from 'drizzle-orm/pg-core'
import { timestamp, wireJson } from '../../../../resource/columns.ts'

export const invoiceCorrections = pgTable('invoice_corrections', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  new_invoice_id: text().notNull(),
  original_invoice_id: text().notNull(),
  credit_invoice_id: text().notNull(),
  pricing_plan_subscription_id: text().notNull(),
  created_at: timestamp().notNull(),
  status: text().$type<'PREPARED' | 'ISSUED' | 'WITHDRAWN'>().notNull(),
  /** For each partition of the log: everything up to here was considered when it was last computed. */
  positions: wireJson<readonly number[]>().notNull(),
})

export type Correction = typeof invoiceCorrections.$inferSelect
