import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns, timestamp } from '../../../resource/columns.ts'

const { platform_id, environment } = tenantColumns()

/** Written by the gateways alone. */
export const ingestionMinutes = pgTable('ingestion_minutes', {
  platform_id,
  environment,
  minute: timestamp().notNull(),
  gateway: text().notNull(),
  outcome: text().notNull(),
  total: bigint({ mode: 'number' }).notNull(),
})
