import { bigint, boolean, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { timestamp } from '../../../resource/columns.ts'

const tenant = () => ({ platform_id: text().notNull(), environment: text().$type<'TEST' | 'LIVE'>().notNull() })

export const pinnedInputs = pgTable('pinned_inputs', {
  ...tenant(),
  invoice_id: text().$type<Id<'invo'>>().notNull(),
  catalog_hash: text().notNull(),
  inputs: text().notNull(),
  request: text().notNull(),
  has_receipt: boolean().notNull(),
})

export const usageReceipts = pgTable('usage_receipts', {
  ...tenant(),
  invoice_id: text().$type<Id<'invo'>>().notNull(),
  created_at: timestamp().notNull(),
  root: text().notNull(),
  number_of_events: bigint({ mode: 'number' }).notNull(),
})
