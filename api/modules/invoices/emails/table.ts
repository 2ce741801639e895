import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, timestamp } from '../../../resource/columns.ts'

/** One sending of an invoice. It keeps no address: recipients are read when it is sent. */
export const invoiceEmails = pgTable('invoice_emails', {
  ...tenantColumns<'inem'>(),
  invoice_id: text().$type<Id<'invo'>>().notNull(),
  trigger_type: text().$type<'MANUAL' | 'AUTOMATIC'>().notNull(),
  status: text().$type<'SCHEDULED' | 'SENT' | 'FAILED'>().notNull(),
  message: text(),
  sent_at: timestamp(),
  /** Until then one worker sends it; null while none does. */
  claimed_until: timestamp(),
})

export type InvoiceEmail = typeof invoiceEmails.$inferSelect
