import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { timestamp, wireJson } from '../../../resource/columns.ts'
import type { StoredLine } from './schema.ts'

/**
 * The lines that users added to an invoice, one row each. They are inputs of the invoice, and fixed once it is FINAL.
 */
export const invoiceAddedLines = pgTable('invoice_added_lines', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  invoice_id: text().$type<Id<'invo'>>().notNull(),
  id: text().notNull(),
  created_at: timestamp().notNull(),
  position: integer().notNull(),
  product_item_id: text().$type<Id<'proi'>>(),
  line: wireJson<StoredLine>().notNull(),
})
