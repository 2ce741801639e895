import { boolean, pgTable, text } from 'drizzle-orm/pg-core'
import { decimalText, tenantColumns, timestamp, wireJson } from '../../resource/columns.ts'
import type { InvoiceContent } from './schema.ts'

export type InvoiceStatus = 'OPEN' | 'DRAFT' | 'FINAL' | 'VOID' | 'ARCHIVED'

export const invoices = pgTable('invoices', {
  ...tenantColumns(),
  invoice_number: text(),
  status: text().$type<InvoiceStatus>().notNull(),
  type: text().$type<'STANDARD'>().notNull(),
  billing_type: text().$type<'DEFAULT'>().notNull(),
  customer_id: text().notNull(),
  billing_entity_id: text().notNull(),
  pricing_plan_subscription_id: text().notNull(),
  period_start: timestamp().notNull(),
  period_end: timestamp().notNull(),
  advance_only: boolean().notNull(),
  cut_at: timestamp().notNull(),
  usage_from: timestamp(),
  invoice_date: timestamp(),
  delivery_date: timestamp(),
  due_date: timestamp(),
  billing_currency: text().notNull(),
  timezone: text().notNull(),
  amount_excluding_tax: decimalText().notNull(),
  tax_amount: decimalText().notNull(),
  amount_including_tax: decimalText().notNull(),
  sales_tax_percentage: decimalText(),
  on_hold: boolean().notNull(),
  payment_status: text().$type<'UNPAID' | 'PAID'>().notNull(),
  content: wireJson<InvoiceContent>().notNull(),
  fingerprint: text().notNull(),
  finalize_at: timestamp(),
  updated_to_final_at: timestamp(),
  to_be_reprocessed_at: timestamp(),
})

export type InvoiceRow = typeof invoices.$inferSelect

/** An invoice without what is printed on it, which is nearly all of its size. */
export type InvoiceOutline = Omit<InvoiceRow, 'content'> & Pick<InvoiceContent, 'advance_charges'>
