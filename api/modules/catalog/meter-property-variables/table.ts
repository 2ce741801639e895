import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, timestamp } from '../../../resource/columns.ts'

export const meterPropertyVariables = pgTable('meter_property_variables', {
  ...tenantColumns<'mepv'>(),
  /** By which the catalog file names it; null where it has none. */
  reference: text(),
  meter_property_id: text().$type<Id<'metp'>>().notNull(),
  value_count: integer().notNull(),
})

const { platform_id, environment } = tenantColumns()

export const meterPropertyVariableValues = pgTable('meter_property_variable_values', {
  platform_id,
  environment,
  meter_property_variable_id: text().$type<Id<'mepv'>>().notNull(),
  value: text().notNull(),
  added_at: timestamp().notNull(),
  /** Null while the value is in the list. */
  removed_at: timestamp(),
  /** The hash of the request that last put it in or took it out. */
  change: text().notNull(),
})

export type MeterPropertyVariable = typeof meterPropertyVariables.$inferSelect
