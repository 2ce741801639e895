import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { timestamp } from '../../../resource/columns.ts'

/** Written by the outbox relay alone; the api may only read it, so it has no `updated_at`. */
export const auditRecords = pgTable('audit_records', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  id: text().notNull(),
  position: bigint({ mode: 'bigint' }).notNull(),
  user_id: text(),
  user_name: text(),
  impersonated_user_id: text(),
  impersonated_user_name: text(),
  credential_id: text(),
  ip: text(),
  target_resource_type: text().notNull(),
  target_id: text().notNull(),
  action: text().notNull(),
  message: text().notNull(),
  changed_fields: text().array().notNull(),
  request_id: text(),
  idempotency_key: text(),
  created_at: timestamp().notNull(),
  sequence: bigint({ mode: 'number' }).notNull(),
  previous_hash: text().notNull(),
  hash: text().notNull(),
})

export type AuditRecord = typeof auditRecords.$inferSelect
