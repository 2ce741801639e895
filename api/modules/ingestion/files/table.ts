import { bigint, boolean, customType, integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, timestamp, wireJson } from '../../../resource/columns.ts'

export type FileStatus =
  | 'CREATED'
  | 'TO_BE_DOWNLOADED'
  | 'DOWNLOADING'
  | 'DOWNLOADED'
  | 'UPLOADED'
  | 'IMPORTING'
  | 'IMPORTED'
  | 'TO_BE_PROCESSED'
  | 'PROCESSING'
  | 'DONE'
  | 'ERROR'
export type FileMeterData = { meter_id?: string | null; override_ingest_timestamp?: string | null }

/** Where the content is fetched from, without what follows its `?`. */
export type FileDownloadSettings = { external_location: string }

export const files = pgTable('files', {
  ...tenantColumns<'file'>(),
  reference: text().notNull(),
  file_name: text().notNull(),
  status: text().$type<FileStatus>().notNull(),
  type: text().$type<'METER_DATA'>().notNull(),
  name: text(),
  description: text(),
  customer_id: text().$type<Id<'cust'>>(),
  processing_type: text().$type<'DEFAULT' | 'SETTINGS' | 'CUSTOM'>().notNull(),
  file_processing_settings_id: text().$type<Id<'fips'>>(),
  meter_data: wireJson<FileMeterData>(),
  content_type: text().notNull(),
  download_settings: wireJson<FileDownloadSettings>(),
  download_query: text(),
  download_attempts: integer().notNull(),
  download_after: timestamp(),
  column_headers: text().array(),
  number_of_lines: integer(),
  message: text(),
  lines_imported: integer().notNull(),
  lines_done: integer().notNull(),
  lines_skipped: integer().notNull(),
  lines_error: integer().notNull(),
  upload_id: text().$type<Id<'fupl'>>(),
  upload_at: timestamp(),
  content_bytes: bigint({ mode: 'number' }).notNull(),
  processing_started_at: timestamp(),
  worked_by: text(),
  worked_at: timestamp(),
  worked_until: timestamp(),
})

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

/** The content, in pieces of CHUNK_BYTES; the last may be shorter. */
export const fileChunks = pgTable('file_chunks', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  file_id: text().$type<Id<'file'>>().notNull(),
  upload_id: text().$type<Id<'fupl'>>().notNull(),
  number: integer().notNull(),
  bytes: bytea().notNull(),
})

export const fileLineBlocks = pgTable('file_line_blocks', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  file_id: text().$type<Id<'file'>>().notNull(),
  number: integer().notNull(),
  first_line: integer().notNull(),
  lines: integer().notNull(),
  byte_start: bigint({ mode: 'number' }).notNull(),
  byte_end: bigint({ mode: 'number' }).notNull(),
  statuses: text().notNull(),
  messages: wireJson<Record<string, string>>().notNull(),
  imported: integer().notNull(),
  done: integer().notNull(),
  skipped: integer().notNull(),
  error: integer().notNull(),
  checked: boolean().notNull(),
})

export type StoredFile = typeof files.$inferSelect
export type LineBlock = typeof fileLineBlocks.$inferSelect
