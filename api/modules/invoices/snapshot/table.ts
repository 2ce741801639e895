import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'

/** INPUTS: what it was computed from; the others: what a refresh of a FINAL invoice changed. */
export type SnapshotPart = 'INPUTS' | 'CUSTOM_FIELD' | 'TAX_RATES'

export const invoiceSnapshots = pgTable('kept_with_invoices', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  invoice_id: text().$type<Id<'invo'>>().notNull(),
  /** In the order in which they were kept; the inputs come first. */
  position: integer().notNull(),
  part: text().$type<SnapshotPart>().notNull(),
  content: text().notNull(),
})
