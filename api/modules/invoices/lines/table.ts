import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { LineKind } from '../../../../shared/billing/steps/line.ts'
import type { TaxCategory } from '../../../../shared/billing/tax/tax.ts'
import type { Id } from '../../../../shared/ids.ts'
import { decimalText, timestamp, wireJson } from '../../../resource/columns.ts'

/**
 * The lines of invoices, one row each: of one that is OPEN or DRAFT what others read of it (`linesOthersRead`), of one that is FINAL every
 * line. Rewritten with an invoice that is OPEN or DRAFT and frozen with one that is FINAL.
 */
export const invoiceLines = pgTable('invoice_lines', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  invoice_id: text().$type<Id<'invo'>>().notNull(),
  line_id: text().notNull(),
  line_order: integer().notNull(),
  kind: text().$type<LineKind>().notNull(),
  pricing_plan_subscription_id: text().$type<Id<'ppsu'>>(),
  pricing_plan_schedule_id: text().$type<Id<'ppsc'>>(),
  product_category_id: text().$type<Id<'proc'>>(),
  product_id: text().$type<Id<'prod'>>(),
  product_item_id: text().$type<Id<'proi'>>(),
  pricing_id: text().$type<Id<'prcg'>>(),
  pricing_item_id: text().$type<Id<'prii'>>(),
  pricing_item_config_id: text().$type<Id<'pico'>>(),
  service_start: timestamp(),
  service_end: timestamp(),
  amount_excluding_tax: decimalText().notNull(),
  tax_amount: decimalText().notNull(),
  amount_including_tax: decimalText().notNull(),
  tax_category: text().$type<TaxCategory>(),
  source: wireJson<Readonly<Record<string, unknown>>>().notNull(),
})

export type InvoiceLineRow = typeof invoiceLines.$inferSelect

/** A row without its invoice and tenant. */
export type LineValues = Omit<InvoiceLineRow, 'platform_id' | 'environment' | 'invoice_id'>
